/** Feeds bytes to a stream's relay without HTTP and collects what it gives to the client and the record. */

import type { Outcome } from '../../src/call/money/settle.ts';
import { ClientStream } from '../../src/call/stream/client-stream.ts';
import { Outbox } from '../../src/call/stream/outbox.ts';
import { StreamRelay } from '../../src/call/stream/stream-relay.ts';
import { resolveLimits } from '../../src/config/resolve-settings.ts';
import type { Framing } from '../../src/framing/framing.ts';
import { SSE } from '../../src/framing/sse-decoder.ts';
import { chatClient } from '../../src/protocols/chat/client/client-protocol.ts';
import { chatUpstream } from '../../src/protocols/chat/upstream/upstream-protocol.ts';
import type { ClientProtocol } from '../../src/protocols/client-protocol.ts';
import { geminiClient } from '../../src/protocols/gemini/client/client-protocol.ts';
import { geminiUpstream } from '../../src/protocols/gemini/upstream/upstream-protocol.ts';
import { messagesClient } from '../../src/protocols/messages/client/client-protocol.ts';
import { messagesUpstream } from '../../src/protocols/messages/upstream/upstream-protocol.ts';
import type { StreamObserver } from '../../src/protocols/upstream-protocol.ts';

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
  gemini: { client: geminiClient, passThrough: geminiUpstream.passThrough },
};

/** Feeds a stream's parts to a relay, then ends it: cleanly or by loss of the connection. */
export function relayed(
  format: keyof typeof PASSED,
  parts: readonly Uint8Array[],
  end: 'clean' | 'lost' = 'clean',
  framing: Framing = SSE,
): Promise<Relayed> {
  const { client, passThrough } = PASSED[format];
  const observer = passThrough.startObserver({ withholdUsage: true, fallbackId: 'chatcmpl-0' });
  return relayedBy({ protocol: client, observer, framing }, parts, end);
}

/** The client's format, the reader of upstream's stream, and how its records are cut. */
export interface RelayPlan {
  readonly protocol: ClientProtocol;
  readonly observer: StreamObserver;
  readonly framing: Framing;
}

/** The same for any pair of formats. */
export async function relayedBy(
  { protocol, observer, framing }: RelayPlan,
  parts: readonly Uint8Array[],
  end: 'clean' | 'lost',
): Promise<Relayed> {
  let outcome: Outcome | null = null;
  const started = Promise.withResolvers<string | null>();
  const client = new ClientStream({
    protocol,
    requestId: 'req_0',
    model: 'm',
    hasRecords: true,
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
    goesOn: () => false,
    onFailure: () => undefined,
    tell: (failure) => failure,
    onCommitted: () => started.resolve(null),
    onGivenUp: (failure) => started.resolve(failure.message),
    onClosed: () => undefined,
  });
  const relay = new StreamRelay({
    framing,
    observer,
    limits: LIMITS,
    client,
    listener: {
      onHead: () => undefined,
      onBegun: () => undefined,
      onEnough: () => undefined,
      onAnswer: ({ head }) => started.resolve(`HTTP ${head.status}`),
      onAnswerFailed: (failure) => started.resolve(failure.message),
    },
    scrub: (bytes) => bytes,
  });
  relay.onHead(HEAD);
  for (const part of parts) relay.onBody(part);
  if (end === 'clean') relay.onEnd();
  else relay.onFailure({ kind: 'truncated', message: 'lost', sent: true, stale: false });
  const problem = await started.promise;
  if (problem !== null) client.discard();
  const text = problem ?? (await new Response(client.body()).text());
  return { text, began: problem === null, outcome };
}
