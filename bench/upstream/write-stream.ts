/** Owns the writing of streams over time: paced, slow and endless. Does not choose between them and reads nothing. */
import type { Outbox } from '../http/outbox.ts';
import { ENDLESS_BLOCK, EVENTS, STREAM_HEAD, streamTail, TEXT_EVENT } from './replies.ts';

/** Milliseconds between two events of a paced stream, and of a slow one. */
const PACED_EVENT_MS = 10;
const SLOW_EVENT_MS = 2000;

/** Blocks an endless stream may write before the other connections get their turn. */
const BLOCKS_PER_TURN = 4;

/** A stream that is being written. */
export interface RunningStream {
  /** To be called when the socket took everything that waited. */
  onDrained(): void;
  /** Ends the writing; nothing is sent after it. */
  stop(): void;
}

let pacedStreams = 0;

/**
 * Writes the first event at once and one each 10 ms after it; the tail goes with the last one. The second event comes
 * 10–19 ms after the first, by turns, so that many streams do not tick in the same millisecond, as real ones do not.
 */
export function writePaced(outbox: Outbox, withUsage: boolean, onFinished: () => void): RunningStream {
  let next = 1;
  let ticker: ReturnType<typeof setInterval> | undefined;

  function writeNext(): void {
    if (!outbox.isEmpty) return;
    const event = EVENTS[next] ?? TEXT_EVENT;
    next += 1;
    if (next < EVENTS.length) {
      outbox.send(event);
      return;
    }
    clearInterval(ticker);
    outbox.send(Buffer.concat([event, streamTail(withUsage)]));
    onFinished();
  }

  outbox.send(Buffer.concat([STREAM_HEAD, EVENTS[0] ?? TEXT_EVENT]));
  const phase = setTimeout(() => {
    ticker = setInterval(writeNext, PACED_EVENT_MS);
  }, pacedStreams % PACED_EVENT_MS);
  pacedStreams += 1;
  return {
    onDrained: () => {},
    stop: () => {
      clearTimeout(phase);
      clearInterval(ticker);
    },
  };
}

/** Writes an event now and one each two seconds, until stopped. */
export function writeSlow(outbox: Outbox): RunningStream {
  outbox.send(Buffer.concat([STREAM_HEAD, TEXT_EVENT]));
  const timer = setInterval(() => {
    if (outbox.isEmpty) outbox.send(TEXT_EVENT);
  }, SLOW_EVENT_MS);
  return { onDrained: () => {}, stop: () => clearInterval(timer) };
}

/** Writes events as fast as the socket takes them, until stopped. Holds at most one block while the reader stalls. */
export function writeEndless(outbox: Outbox): RunningStream {
  let open = true;
  let turn: ReturnType<typeof setImmediate> | undefined;

  function pump(): void {
    turn = undefined;
    for (let written = 0; open && written < BLOCKS_PER_TURN; written += 1) {
      if (!outbox.isEmpty) return;
      outbox.send(ENDLESS_BLOCK);
    }
    if (open) turn = setImmediate(pump);
  }

  outbox.send(STREAM_HEAD);
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
