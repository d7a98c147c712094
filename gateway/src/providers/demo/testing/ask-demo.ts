/** Owns the tests' ways of asking the demo model: directly, and as a server for the vendors' SDKs. Asserts nothing. */
import type { DemoCall, DemoReply } from '../demo-call.ts';
import { renderDemoAnswer, renderDemoTokenCount } from '../render-demo-answer.ts';

type Protocol = DemoCall['protocol'];

interface Asked {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** The body as it would go over the wire. */
  readonly text: string;
  /** One text per server-sent event; empty for a JSON answer. */
  readonly records: readonly string[];
}

/** Asks without a network. */
export function askDemo(protocol: Protocol, body: unknown, requestId = 'req_1', version?: string): Asked {
  const call = { protocol, body, requestId, nowMs: 1_760_000_000_123 };
  const reply = renderDemoAnswer(version === undefined ? call : { ...call, version });
  const decoder = new TextDecoder();
  const records = reply.kind === 'json' ? [] : [...reply.records].map((record) => decoder.decode(record.bytes));
  const text = reply.kind === 'json' ? decoder.decode(reply.body) : records.join('');
  return { status: reply.status, headers: new Map(reply.headers), text, records };
}

/** Serves both endpoints and count_tokens on a free port of the loopback, without the pauses between words. */
export function serveDemo(): { readonly url: string; readonly stop: () => Promise<void> } {
  let served = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const call = { body: (await request.json()) as unknown, requestId: `req_${++served}`, nowMs: 1_760_000_000_123 };
      const version = request.headers.get('anthropic-version');
      const messages = { ...call, protocol: 'messages', ...(version === null ? {} : { version }) } as const;
      if (pathname === '/v1/messages/count_tokens') return toResponse(renderDemoTokenCount(messages));
      const asked = pathname === '/v1/messages' ? messages : ({ ...call, protocol: 'chat' } as const);
      return toResponse(renderDemoAnswer(asked));
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** A streamed reply is pulled record by record, so that an SDK sees them arrive apart. */
function toResponse(reply: DemoReply): Response {
  const headers = new Headers(reply.headers.map(([name, value]): [string, string] => [name, value]));
  if (reply.kind === 'json') return new Response(reply.body, { status: reply.status, headers });
  const records = reply.records[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = records.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value.bytes);
    },
  });
  return new Response(body, { status: reply.status, headers });
}
