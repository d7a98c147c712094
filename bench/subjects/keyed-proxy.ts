/**
 * Runs the keyed baseline, `keyed-proxy.ts PORT UPSTREAM_PORT` with its one key in BENCH_KEY: the bare proxy plus a key
 * look-up and reading the usage of non-streamed answers. Streams are relayed unchanged. No records, no limits.
 */

interface Caller {
  calls: number;
  tokens: number;
}

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const upstream = `http://127.0.0.1:${upstreamPort}/v1/chat/completions`;
/** By key hash, as careful servers store keys. */
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
