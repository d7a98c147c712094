/** Runs the blind baseline, the minimum a Bun proxy can do: `bare-proxy.ts PORT UPSTREAM_PORT`. It reads no content. */

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const upstream = `http://127.0.0.1:${upstreamPort}/v1/chat/completions`;

Bun.serve({
  hostname: '127.0.0.1',
  port: port ?? 0,
  idleTimeout: 255,
  async fetch(request) {
    const answer = await fetch(upstream, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await request.arrayBuffer(),
    });
    const type = answer.headers.get('content-type') ?? 'application/octet-stream';
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': type } });
  },
});

export {};
