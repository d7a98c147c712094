/**
 * Maintains the connection to the writer thread: starts it, restarts it when it dies, reports whether the disk accepts
 * writes, and probes until it does again.
 */

import { OutcomeUnknown, type StoreError, Unavailable } from '../../ports/store-errors.ts';
import { startThread as startWorker } from '../database/start-thread.ts';
import { errorOf, isAboutRequest } from '../sqlite-fault.ts';
import {
  failedReply,
  troubleOf,
  type WriterOpened,
  type WriterReply,
  type WriterRequest,
  wholeFailure,
} from './writer-messages.ts';

/** Options of the writer thread. */
export interface WriterPlace {
  /** Path of the database file. */
  readonly path: string;
  /** Maximum file size in bytes; beyond it the store behaves as on a full disk. Null: none. */
  readonly databaseBytesMax: number | null;
  /** Called when writes begin to fail (with the reason), and when they work again (null). */
  readonly onChange: (failure: StoreError | null) => void;
  /** The thread's program. */
  readonly program: URL;
}

export interface WriterLink extends Readonly<WriterOpened> {
  /** `onReply` is called exactly once. */
  request(message: WriterRequest, onReply: (reply: WriterReply) => void): void;
  /** False from a failed write until a probe succeeds. */
  writable(): boolean;
  /** Closes the database cleanly and ends the thread. */
  close(): Promise<void>;
}

const NOT_OPENED = 'The thread that writes the database did not open it.';
/** Delay between attempts to write again after a failure. */
const RETRY_MS = 500;

/** Opens the database in a new writer thread. @throws Unavailable where it cannot be opened. */
export async function openWriterLink(place: WriterPlace): Promise<WriterLink> {
  const { path, databaseBytesMax, onChange, program } = place;
  let trouble: StoreError | null = null;
  let retryTimer: Timer | null = null;
  let active = false;
  /** The thread died: it is started again, not probed. */
  let isLost = false;
  let thread = startThread();
  const first = await new Promise<WriterReply>((resolve) => open(thread, null, resolve));
  if (typeof first !== 'object' || !('opened' in first)) {
    thread.end();
    const failure = wholeFailure(first);
    throw failure instanceof Unavailable ? failure : new Unavailable('failed', failure?.message ?? NOT_OPENED);
  }
  const { opened } = first;
  active = true;

  function startThread(): WriterThread {
    return startWriterThread(program, (failure) => {
      isLost = true;
      hear(failure);
    });
  }

  function open(fresh: WriterThread, stream: Uint8Array | null, onOpened: (reply: WriterReply) => void): void {
    fresh.request({ kind: 'open', path, databaseBytesMax, stream }, onOpened);
  }

  /** Handles a failed write or the outcome of a retry. */
  function hear(outcome: StoreError | null): void {
    if (!active) return;
    const changed = (outcome === null) !== (trouble === null);
    trouble = outcome;
    if (changed) onChange(outcome);
    if (outcome !== null) retryTimer ??= setTimeout(retry, RETRY_MS).unref();
  }

  function retry(): void {
    retryTimer = null;
    if (trouble === null || !active) return;
    if (isLost) {
      thread.end();
      try {
        thread = startThread();
      } catch {
        // Too few file descriptors are free. Until the next try, requests are answered by the one that has ended.
        hear(trouble);
        return;
      }
      open(thread, opened.stream, (reply) => {
        isLost = wholeFailure(reply) !== null;
        hear(isLost ? trouble : null);
      });
    } else {
      thread.request({ kind: 'probe' }, (reply) => hear(wholeFailure(reply)));
    }
  }

  return {
    opened,
    request(message, onReply) {
      thread.request(message, (reply) => {
        onReply(reply);
        const failure = diskFailure(reply);
        // A success does not prove that the disk accepts writes again: there may have been nothing to write. Only a
        // probe proves it.
        // A block that does not fit the tables fails the ingest alone.
        const isAboutJournal = message.kind === 'ingest' && failure?.kind === 'incompatible';
        if (failure !== null && !isAboutJournal) hear(failure);
      });
    },
    writable: () => active && trouble === null,
    async close() {
      active = false;
      if (retryTimer !== null) clearTimeout(retryTimer);
      await new Promise<void>((resolve) => thread.request({ kind: 'close' }, () => resolve()));
      thread.end();
    },
  };
}

/** Returns the reply's fault where the disk caused it, not the content of the request. */
function diskFailure(reply: WriterReply): StoreError | null {
  const said = troubleOf(reply);
  if (said === null) return null;
  const fault = [said.failed, ...said.writes].find((each) => each !== null && !isAboutRequest(each));
  return fault ? errorOf(fault) : null;
}

interface WriterThread {
  /** Sends a request; `onReply` is called exactly once, in the order of the requests. */
  request(message: WriterRequest, onReply: (reply: WriterReply) => void): void;
  /** Ends the thread; pending requests are answered as lost, and `onLost` is not called. */
  end(): void;
}

/**
 * Starts the thread. Messages to a dead worker vanish silently, so every event that can mean its end is handled:
 * the outcome of pending requests is unknown, and `onLost` is called.
 */
function startWriterThread(program: URL, onLost: (failure: StoreError) => void): WriterThread {
  const worker = startWorker(program);
  const waiting: ((reply: WriterReply) => void)[] = [];
  let lost: Unavailable | null = null;

  function lose(reason: string): Unavailable {
    const message = `The thread that writes the database ended (${reason}).`;
    lost = new Unavailable('failed', message);
    worker.terminate();
    const reply = failedReply(new OutcomeUnknown(message));
    for (const onReply of waiting.splice(0)) onReply(reply);
    return lost;
  }
  function loseUnexpectedly(reason: string): void {
    if (lost === null) onLost(lose(reason));
  }
  worker.onmessage = ({ data: reply }: MessageEvent<WriterReply>) => waiting.shift()?.(reply);
  worker.onerror = (event) => loseUnexpectedly(event.message);
  worker.onmessageerror = () => loseUnexpectedly('a message could not be read');
  worker.addEventListener('close', () => loseUnexpectedly('it closed'));

  return {
    request(message, onReply) {
      if (lost !== null) return onReply(failedReply(lost));
      waiting.push(onReply);
      worker.postMessage(message);
    },
    end() {
      if (lost === null) lose('it was closed');
    },
  };
}
