/** Feeds bytes to a stream's relay without HTTP and collects what it gives to the client and the record. */

import type { Outcome } from '../../src/call/money/settle.ts';
import { Outbox } from '../../src/call/stream/outbox.ts';
import { StreamRelay } from '../../src/call/stream/stream-relay.ts';
import { resolveLimits } from '../../src/config/resolve-settings.ts';
import { CallFailure } from '../../src/errors/call-failure.ts';
import { SSE } from '../../src/framing/sse-decoder.ts';
import { chatClient } from '../../src/protocols/chat/client/client-protocol.ts';
import { chatUpstream } from '../../src/protocols/chat/upstream/upstream-protocol.ts';
import { messagesClient } from '../../src/protocols/messages/client/client-protocol.ts';
import { messagesUpstream } from '../../src/protocols/messages/upstream/upstream-protocol.ts';

const HEAD = {
  status: 200,
  headers: [['content-type', 'text/event-stream']],
  framing: 'close',
  lengthBytes: 0,
  keepAlive: false,
} as const;
const LIMITS = resolveLimits({});

/** What the client got (the failure's message if the answer never began), and what was settled. */
export interface Relayed {
  readonly text: string;
  readonly began: boolean;
  readonly outcome: Outcome | null;
}

const PASSED = {
  chat: { client: chatClient, passThrough: chatUpstream.passThrough },
  messages: { client: messagesClient, passThrough: messagesUpstream.passThrough },
};

/** Feeds a stream's parts to a relay, then ends it: cleanly or by loss of the connection. */
export async function relayed(
  format: keyof typeof PASSED,
  parts: readonly Uint8Array[],
  end: 'clean' | 'lost' = 'clean',
): Promise<Relayed> {
  let outcome: Outcome | null = null;
  const relay = new StreamRelay({
    protocol: PASSED[format].client,
    framing: SSE,
    observer: PASSED[format].passThrough.startObserver({ withholdUsage: true, fallbackId: 'chatcmpl-0' }),
    requestId: 'req_0',
    limits: LIMITS,
    openOutbox: (listener) =>
      new Outbox(
        listener,
        () => undefined,
        () => true,
      ),
    settle: async (settled) => {
      outcome = settled;
    },
    scrub: (bytes) => bytes,
    failureOfLate: ({ head }) => new CallFailure('upstream_failed', `HTTP ${head.status}`),
    onFirstByte: () => undefined,
    onStarted: () => undefined,
    onFailure: () => undefined,
    onClosed: () => undefined,
  });
  relay.onHead(HEAD);
  for (const part of parts) relay.onBody(part);
  if (end === 'clean') relay.onEnd();
  else relay.onFailure({ kind: 'truncated', message: 'lost', sent: true, stale: false });
  const start = await relay.started.catch((failure: Error) => failure.message);
  const text = typeof start === 'string' ? start : await new Response(relay.body()).text();
  return { text, began: typeof start !== 'string', outcome };
}
