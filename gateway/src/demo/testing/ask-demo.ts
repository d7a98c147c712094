/** Calls the demo model in tests: directly, and as a server for the vendors' SDKs. */

import { resolveLimits } from '../../config/resolve-settings.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { GenerationClientName, GenerationUpstreamName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { scanJson } from '../../wire/json-scan.ts';
import { answerDemoCall, type DemoReply } from '../demo-exchange.ts';

/** A format that the demo model answers in: both halves are its own. */
type DemoFormat = GenerationClientName & GenerationUpstreamName;

interface Asked {
  readonly status: number;
  readonly contentType: string;
  /** The body as it would go over the wire. */
  readonly text: string;
  /** One text per server-sent event; a non-streaming body as one text. */
  readonly records: readonly string[];
}

/** Calls it without a network. */
export function askDemo(protocol: DemoFormat, body: object, requestId = 'req_1', countOnly = false): Asked {
  const { status, contentType, records } = reply(protocol, Buffer.from(JSON.stringify(body)), requestId, countOnly);
  const text = [...records].map((record) => record.text).join('');
  return { status, contentType, text, records: text.split(/(?<=\n\n)/) };
}

/** Processes the body as the gateway does before the demo model gets it. */
function reply(protocol: DemoFormat, body: Uint8Array, requestId: string, countOnly: boolean): DemoReply {
  const outline = scanJson(body);
  if (!outline.ok) throw new Error(outline.message);
  const context = { limits: resolveLimits({}), version: '2023-06-01', countOnly } as const;
  try {
    const { answers } = CLIENT_PROTOCOLS[protocol].checkRequest(outline, context);
    const operation = countOnly ? 'count_tokens' : 'plain';
    return answerDemoCall({ protocol, body, operation, answers, requestId, atMs: 1_760_000_000_123 });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const text = CLIENT_PROTOCOLS[protocol].renderError(error, requestId);
    return {
      status: CLIENT_PROTOCOLS[protocol].statusOf(error),
      contentType: 'application/json',
      records: [{ text, pauseMs: 0 }],
    };
  }
}

/** Serves both endpoints and count_tokens on a free port of the loopback, without the pauses between words. */
export function serveDemo(): { readonly url: string; readonly stop: () => Promise<void> } {
  let served = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const protocol = pathname.startsWith('/v1/messages') ? 'messages' : 'chat';
      const body = new Uint8Array(await request.arrayBuffer());
      const requestId = `req_${++served}`;
      const { status, contentType, records } = reply(protocol, body, requestId, pathname.endsWith('/count_tokens'));
      const texts = records[Symbol.iterator]();
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = texts.next();
          if (next.done === true) controller.close();
          else controller.enqueue(Buffer.from(next.value.text));
        },
      });
      const headers = { 'content-type': contentType, 'x-request-id': requestId, 'request-id': requestId };
      return new Response(stream, { status, headers });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
