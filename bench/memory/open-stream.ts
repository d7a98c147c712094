/**
 * Runs one streamed call over a raw socket that the caller may leave open or stop reading. Checks only the start of the
 * answer.
 */
import { createMessageReader } from '../http/message-reader.ts';
import { createOutbox } from '../http/outbox.ts';
import { createSseCounter } from '../http/sse-counter.ts';
import { renderRequest } from '../load/render-request.ts';
import type { UpstreamModel } from '../upstream/choose-answer.ts';

/** Where streams are opened: a gateway on loopback in front of the bench's upstream. */
export interface StreamTarget {
  /** Port on 127.0.0.1. */
  readonly port: number;
  readonly path: string;
  /** Credential and routing headers of each call. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OpenStream {
  /** Body bytes read so far. */
  readonly bodyBytes: number;
  /** Null while the stream runs; else how it ended. */
  readonly ended: string | null;
  /** Stops reading the socket; data then waits in the kernel, later at the sender. */
  pause(): void;
  close(): void;
}

/** The body of a streamed call for one of the upstream's models. */
export function renderStreamBody(model: UpstreamModel): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Count the carts.' }], stream: true });
}

/** Resolves at the first event; rejects when the answer is not a 200 or ends before an event. */
export async function openStream(target: StreamTarget, model: UpstreamModel): Promise<OpenStream> {
  const opened = Promise.withResolvers<void>();
  // It may reject while the connection is still being awaited, before a handler is attached.
  opened.promise.catch(() => {});
  let bodyBytes = 0;
  let ended: string | null = null;
  const counter = createSseCounter('chat', () => {
    if (counter.events === 1) opened.resolve();
  });

  function end(reason: string): void {
    ended ??= reason;
    opened.reject(new Error(reason));
    socket?.terminate();
  }

  const reader = createMessageReader(
    {
      onHead(head) {
        const status = head.slice(9, 12);
        if (status !== '200') end(`status: found ${status}, expected 200`);
      },
      onBody(bytes) {
        bodyBytes += bytes.length;
        counter.push(bytes);
      },
      onEnd: () => end('the stream ended'),
    },
    'refuse',
  );

  let socket: Bun.Socket<undefined> | undefined;
  const request = renderRequest(target.path, target.port, target.headers, renderStreamBody(model));
  socket = await Bun.connect<undefined>({
    hostname: '127.0.0.1',
    port: target.port,
    socket: {
      open(connected) {
        const outbox = createOutbox(connected);
        outbox.send(request);
        if (!outbox.isEmpty) end('the socket did not take a small request at once');
      },
      data(_, bytes) {
        try {
          reader.push(bytes);
        } catch (error) {
          end(String(error));
        }
      },
      close: () => end('the connection closed'),
      error: (_, error) => end(error.message),
    },
  });
  const connection = socket;
  await opened.promise;
  return {
    get bodyBytes() {
      return bodyBytes;
    },
    get ended() {
      return ended;
    },
    pause: () => connection.pause(),
    close: () => end('closed by us'),
  };
}

/** Opened streams, and the failures of the others. */
export interface OpenedStreams {
  readonly streams: readonly OpenStream[];
  readonly failures: number;
  readonly firstFailure: string | null;
}

const FAILURES_MAX = 20;

/**
 * Opens `count` streams, at most `atOnce` of them concurrently; `onOpened` is called for each at its first event. Stops
 * opening after 20 failures.
 */
export async function openStreams(
  target: StreamTarget,
  model: UpstreamModel,
  count: number,
  atOnce: number,
  onOpened: (stream: OpenStream) => void,
): Promise<OpenedStreams> {
  const streams: OpenStream[] = [];
  let failures = 0;
  let firstFailure: string | null = null;
  let started = 0;

  async function openNext(): Promise<void> {
    while (started < count && failures < FAILURES_MAX) {
      started += 1;
      try {
        const stream = await openStream(target, model);
        streams.push(stream);
        onOpened(stream);
      } catch (error) {
        failures += 1;
        firstFailure ??= String(error);
      }
    }
  }

  await Promise.all(Array.from({ length: atOnce }, openNext));
  return { streams, failures, firstFailure };
}
