/** Gives a stored answer to a client, and paces large ones. */
import type { Gauge } from '../../admission/capacity.ts';
import type { Routed } from '../call.ts';
import { type AnswerStream, type DirectController, streamBody } from '../stream/outbox.ts';

/** Up to this size bytes are handed over at once, like those of any non-streamed answer. */
const UNPACED_BYTES_MAX = 64 * 1024;

/** Memory held for bytes. `release` may be called twice. */
export interface HeldBytes {
  release(): void;
}

const NOTHING_HELD: HeldBytes = { release: () => undefined };

/** Null: there is no room. Bytes that are handed over at once are not held. */
export function holdBytes(gauge: Gauge, bytes: number): HeldBytes | null {
  if (bytes <= UNPACED_BYTES_MAX) return NOTHING_HELD;
  if (!gauge.take(bytes)) return null;
  let isHeld = true;
  return {
    release() {
      if (isHeld) gauge.give(bytes);
      isHeld = false;
    },
  };
}

/** The reply with a stored answer; large ones hold their memory until the client has taken them. */
export function replyStored(
  { settings, request, origin }: Routed,
  { status, stream, headers }: { readonly status: number; readonly stream: boolean; readonly headers: Headers },
  body: Buffer,
  held: HeldBytes,
): Response {
  if (held === NOTHING_HELD) return new Response(body, { status, headers });
  const timeoutMs = settings.config.limits.slowReaderTimeoutMs;
  const paced = pacedAnswer(held, body, { timeoutMs, signal: request.signal });
  if (!stream || origin.takeStream === undefined) return new Response(streamBody(paced), { status, headers });
  origin.takeStream(paced);
  return new Response(null, { status, headers });
}

interface Pace {
  /** A client that takes nothing for this long is disconnected. */
  readonly timeoutMs: number;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
}

const SLICE_BYTES = 64 * 1024;

/** An answer that holds its memory until the client has taken everything, has left, or has stopped reading. */
export function pacedAnswer(held: HeldBytes, bytes: Uint8Array, { timeoutMs, signal }: Pace): AnswerStream {
  const leave = () => held.release();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();

  async function attach(controller: DirectController): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        const taken = controller.write(bytes.subarray(at, at + SLICE_BYTES));
        // A rejection breaks the connection, so that a client that keeps reading does not mistake it for a clean end.
        if (typeof taken !== 'number') await within(taken, timeoutMs, signal);
      }
      controller.flush();
      controller.close();
    } finally {
      held.release();
      signal.removeEventListener('abort', leave);
    }
  }

  return { attach, leave };
}

function within(taken: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('the client takes nothing of the answer'));
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    taken.then(finish, giveUp);
  });
}
