/** Writes streams over time: paced, slow and endless. */
import type { Outbox } from '../http/outbox.ts';
import type { Replies } from './replies.ts';

/** Milliseconds between two writes of a paced stream, and of a slow one. */
const PACED_WRITE_MS = 10;
const SLOW_WRITE_MS = 2000;

/** Blocks an endless stream may write before other connections get their turn. */
const BLOCKS_PER_TURN = 4;

/** A stream that is being written. */
export interface RunningStream {
  /** Call when the socket has taken everything that waited. */
  onDrained(): void;
  /** Stops writing; nothing is sent afterwards. */
  stop(): void;
}

let pacedStreams = 0;

/**
 * Makes the first write immediately, then one every 10 ms; the tail goes with the last one. The second write comes
 * 10–19 ms after the first, varied by stream, so that many streams do not tick in the same millisecond, as real ones do
 * not.
 */
export function writePaced(
  outbox: Outbox,
  { opening, writes, textEvent, tail }: Replies,
  withUsage: boolean,
  onFinished: () => void,
): RunningStream {
  let next = 1;
  let ticker: ReturnType<typeof setInterval> | undefined;

  function writeNext(): void {
    if (!outbox.isEmpty) return;
    const bytes = writes[next] ?? textEvent;
    next += 1;
    if (next < writes.length) {
      outbox.send(bytes);
      return;
    }
    clearInterval(ticker);
    outbox.send(Buffer.concat([bytes, tail(withUsage)]));
    onFinished();
  }

  outbox.send(opening);
  const phase = setTimeout(() => {
    ticker = setInterval(writeNext, PACED_WRITE_MS);
  }, pacedStreams % PACED_WRITE_MS);
  pacedStreams += 1;
  return {
    onDrained: () => {},
    stop: () => {
      clearTimeout(phase);
      clearInterval(ticker);
    },
  };
}

/** Writes the opening and a text event now, then one every two seconds, until stopped. */
export function writeSlow(outbox: Outbox, { opening, textEvent }: Replies): RunningStream {
  outbox.send(Buffer.concat([opening, textEvent]));
  const timer = setInterval(() => {
    if (outbox.isEmpty) outbox.send(textEvent);
  }, SLOW_WRITE_MS);
  return { onDrained: () => {}, stop: () => clearInterval(timer) };
}

/**
 * Writes text events as fast as the socket takes them, until stopped. Holds at most one block while the reader stalls.
 */
export function writeEndless(outbox: Outbox, { opening, endlessBlock }: Replies): RunningStream {
  let open = true;
  let turn: ReturnType<typeof setImmediate> | undefined;

  function pump(): void {
    turn = undefined;
    for (let written = 0; open && written < BLOCKS_PER_TURN; written += 1) {
      if (!outbox.isEmpty) return;
      outbox.send(endlessBlock);
    }
    if (open) turn = setImmediate(pump);
  }

  outbox.send(opening);
  pump();
  return {
    onDrained: () => {
      if (open && turn === undefined) pump();
    },
    stop: () => {
      open = false;
    },
  };
}
