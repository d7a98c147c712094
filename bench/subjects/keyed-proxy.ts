/**
 * Owns the yardstick with a purpose, `keyed-proxy.ts PORT UPSTREAM_PORT` and its one key in BENCH_KEY: the bare proxy that
 * also looks up who calls and reads what an answer in one piece used. Streams pass as they come. No records, no limits.
 */

interface Caller {
  calls: number;
  tokens: number;
}

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const upstream = `http://127.0.0.1:${upstreamPort}/v1/chat/completions`;
/** By the hash of its key, as anybody keeps keys who keeps them with care. */
const callers = new Map<string, Caller>([[hashKey(process.env.BENCH_KEY ?? ''), { calls: 0, tokens: 0 }]]);

function hashKey(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('base64');
}

Bun.serve({
  hostname: '127.0.0.1',
  port: port ?? 0,
  idleTimeout: 255,
  async fetch(request) {
    const caller = callers.get(hashKey(request.headers.get('authorization')?.slice('Bearer '.length) ?? ''));
    if (caller === undefined) return new Response('no such key', { status: 401 });
    const answer = await fetch(upstream, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await request.arrayBuffer(),
    });
    const type = answer.headers.get('content-type') ?? 'application/octet-stream';
    const head = { status: answer.status, headers: { 'content-type': type } };
    caller.calls += 1;
    if (!type.startsWith('application/json')) return new Response(answer.body, head);
    const text = await answer.text();
    const { usage } = JSON.parse(text) as { readonly usage?: { readonly total_tokens?: number } };
    caller.tokens += usage?.total_tokens ?? 0;
    return new Response(text, head);
  },
});

export {};
