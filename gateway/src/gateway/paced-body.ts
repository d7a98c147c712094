/** Owns handing bytes that are all there to a client at the client's pace, and letting go of them when it takes no more. */
import type { DirectController } from './outbox.ts';

/** What the bytes hold of the process. Letting go twice is harmless. */
export interface HeldBytes {
  release(): void;
}

export interface Pace {
  /** A client that takes nothing for so long is given up. */
  readonly timeoutMs: number;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
}

const SLICE_BYTES = 64 * 1024;

/** A body that holds what it holds until the client has taken all, left, or stopped to take. */
export function pacedBody(held: HeldBytes, bytes: Uint8Array, { timeoutMs, signal }: Pace): ReadableStream {
  const leave = () => held.release();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();

  async function pull(controller: DirectController): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        const taken = controller.write(bytes.subarray(at, at + SLICE_BYTES));
        // A rejection breaks the connection: a client that reads on must not take it for a clean end.
        if (typeof taken !== 'number') await within(taken, timeoutMs, signal);
      }
      controller.flush();
      controller.close();
    } finally {
      held.release();
      signal.removeEventListener('abort', leave);
    }
  }

  const source = { type: 'direct' as const, pull, cancel: leave };
  return new ReadableStream(source as unknown as Bun.DirectUnderlyingSource);
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
