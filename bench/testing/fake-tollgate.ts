/**
 * Stands in for `tollgate` in the rig's tests: creates a key, prints it at the start, requires it, relays to the configured provider. It
 * cannot translate: a call whose path is not its provider's is refused.
 */
import { parseArgs } from 'node:util';

const key = `tg_${'k'.repeat(49)}`;
const text = { type: 'string' } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { config: text, port: text, name: text, 'budget-usd': text, 'budget-window': text },
});
if (positionals[0] === 'keys') {
  process.stdout.write(`${key}\n`);
  process.exit(0);
}
const config = await Bun.file(values.config ?? '').text();
const upstream = /base_url: (\S+),/.exec(config)?.[1];
const [, kind = ''] = /kind: ([\w-]+)/.exec(config) ?? [];
const endpoint = { anthropic: '/messages', openai: '/responses' }[kind] ?? '/chat/completions';

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(values.port),
  async fetch(request) {
    if (request.headers.get('authorization') !== `Bearer ${key}`) return new Response('no key', { status: 401 });
    const body = await request.text();
    if (/"max_(?:output_)?tokens":1\b/.test(body)) return Response.json({ finish_reason: 'length' });
    const { pathname } = new URL(request.url);
    if (pathname !== `/v1${endpoint}`) return new Response(`no ${pathname} from ${endpoint}`, { status: 501 });
    const answer = await fetch(`${upstream}${endpoint}`, { method: 'POST', body });
    return new Response(answer.body, { status: answer.status });
  },
});
process.stdout.write(
  `curl http://127.0.0.1:${values.port}/v1/models -H 'authorization: Bearer tg_${'f'.repeat(49)}'\n`,
);
