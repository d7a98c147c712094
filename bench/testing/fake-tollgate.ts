/** Owns a stand-in for `tollgate serve` in the rig's tests: prints a key, demands it, relays to the configured provider. */
import { parseArgs } from 'node:util';

const text = { type: 'string' } as const;
const { values } = parseArgs({ allowPositionals: true, options: { config: text, port: text } });
const upstream = /base_url: (\S+),/.exec(await Bun.file(values.config ?? '').text())?.[1];
const key = `tg_${'k'.repeat(49)}`;

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(values.port),
  async fetch(request) {
    if (request.headers.get('authorization') !== `Bearer ${key}`) return new Response('no key', { status: 401 });
    const answer = await fetch(`${upstream}/chat/completions`, { method: 'POST', body: await request.arrayBuffer() });
    return new Response(answer.body, { status: answer.status });
  },
});
process.stdout.write(`curl http://127.0.0.1:${values.port}/v1/models -H 'authorization: Bearer ${key}'\n`);
