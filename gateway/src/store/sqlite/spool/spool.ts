/**
 * Stores settlements and extensions of running calls while the store accepts no writes: they go into the spool file,
 * and from there into the ledger before the store counts as writable again.
 */

import { OutcomeUnknown, StoreError } from '../../ports/store-errors.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import type { Operation } from '../operations/ledger-operations.ts';
import type { Writer } from '../operations/writer.ts';
import { isAboutRequest } from '../sqlite-fault.ts';
import { type Drained, spoolPath } from './drain-spool.ts';
import { openSpoolFile, setSpoolAside } from './spool-file.ts';

export interface Spool {
  /**
   * Stores an operation of a held call: in the ledger, else in the spool. Where neither accepts it, rejects with the
   * ledger's failure.
   */
  keep(call_id: string, operation: Operation): Promise<void>;
  /** Stores an operation in the spool; the ledger gets it as soon as possible. */
  keepLater(call_id: string, operation: Operation): Promise<void>;
  /** Reserves space for the settlements of this many running calls. */
  provideFor(runningCalls: number): void;
  /** False from a failed write until a write has succeeded and the spooled entries are in the ledger. */
  writable(): boolean;
  /** Handles the writer's state changes and reports them to the listener. */
  onWriterChange(failure: StoreError | null): void;
  close(): Promise<void>;
}

/** Receives the spool's events. */
export interface SpoolListener {
  /** Writes fail (with the reason); or work again (null), and the ledger has all spooled entries. */
  onChange(failure: StoreError | null): void;
  /** Sentences for the operator. */
  onProblem(problem: string): void;
  /** This many calls' settlements moved from the spool into the ledger. */
  onDrained(calls: number): void;
}

/** A settlement takes about 1 KB; with texts of maximum length and three attempts it takes 4 KB. */
const CALL_BYTES = 4_096;
const ROOM_BYTES_MIN = 1_048_576;
/** Delay between attempts to drain the spool. */
const RETRY_MS = 500;

/** Opens the spool in the database's folder. `drained` is what the writer drained from it when it opened. */
export async function openSpool(
  database: string,
  writer: Pick<Writer, 'keep' | 'writable' | 'drain'>,
  drained: Drained,
  listener: SpoolListener,
  reach: ReachFailpoint,
): Promise<Spool> {
  const path = spoolPath(database);
  if (drained.problems.length > 0) await reportProblems(drained);
  const file = await openSpoolFile(path, reach);
  /**
   * Calls with operations being written to the spool or waiting in it, with their number: their later operations must
   * not overtake these.
   */
  const spooled = new Map<string, number>();
  /** The call of each entry in the file. */
  let written: string[] = [];
  let away: StoreError | null = null;
  let isDraining = false;
  let draining: Promise<void> = Promise.resolve();
  /** An entry arrived that the current drain may have missed. */
  let again = false;
  let growing: Promise<void> | null = null;
  let wantedBytes = ROOM_BYTES_MIN;
  let retry: Timer | null = null;
  let closed = false;

  async function reportProblems({ problems }: Drained): Promise<void> {
    const aside = await setSpoolAside(path, Date.now());
    for (const problem of problems) listener.onProblem(`${problem} The spool as it was is kept in ${aside}.`);
  }

  async function put(call_id: string, operation: Operation): Promise<void> {
    spooled.set(call_id, (spooled.get(call_id) ?? 0) + 1);
    try {
      await file.append(JSON.stringify(operation), () => written.push(call_id));
    } catch (fault) {
      leave(call_id);
      const problem = `${path} does not take what call ${call_id} asks for: ${String(fault)}`;
      listener.onProblem(problem);
      throw new OutcomeUnknown(`The store accepts no writes, and neither does the spool: ${problem}.`);
    }
    if (away === null) drainSoon();
  }

  function leave(call_id: string): void {
    const left = (spooled.get(call_id) ?? 1) - 1;
    if (left === 0) spooled.delete(call_id);
    else spooled.set(call_id, left);
  }

  function drainSoon(): void {
    again = true;
    if (!isDraining) draining = drainAll();
  }

  async function drainAll(): Promise<void> {
    isDraining = true;
    while (again && !closed) {
      again = false;
      try {
        while (written.length > 0 && writer.writable()) await file.drainBy(drainWritten);
        // If the store is unavailable again, its return restarts the drain.
        if (away !== null && writer.writable()) {
          away = null;
          listener.onChange(null);
        }
      } catch (fault) {
        if (writer.writable() && !closed) tryLater(fault);
      }
    }
    isDraining = false;
  }

  async function drainWritten(): Promise<boolean> {
    const taken = await writer.drain();
    if (taken.problems.length > 0) await reportProblems(taken);
    if (taken.settled > 0) listener.onDrained(taken.settled);
    for (const call_id of written) leave(call_id);
    written = [];
    return true;
  }

  function tryLater(fault: unknown): void {
    listener.onProblem(`the contents of ${path} could not be moved into the ledger yet: ${String(fault)}`);
    retry ??= setTimeout(() => {
      retry = null;
      drainSoon();
    }, RETRY_MS).unref();
  }

  function grow(): void {
    growing ??= file.reserve(wantedBytes).then(
      () => {
        growing = null;
        if (wantedBytes > file.roomBytes && !closed) grow();
      },
      (fault: unknown) => {
        // Reserved space stays. Without more, the disk is about to be full: retried once the store was unavailable and
        // is back.
        if (!closed) listener.onProblem(`${path} could not be given room for ${wantedBytes} bytes: ${String(fault)}`);
      },
    );
  }

  grow();
  return {
    keep(call_id, operation) {
      if (away !== null || spooled.has(call_id)) return put(call_id, operation);
      return writer.keep(operation).catch((failure: unknown) => {
        if (!isOutage(failure)) throw failure;
        return put(call_id, operation).catch(() => {
          throw failure;
        });
      });
    },
    keepLater: put,
    provideFor(runningCalls) {
      if (runningCalls * CALL_BYTES <= wantedBytes) return;
      wantedBytes = Math.max(runningCalls * CALL_BYTES, 2 * wantedBytes);
      grow();
    },
    writable: () => away === null && writer.writable(),
    onWriterChange(failure) {
      if (failure === null) {
        growing = null;
        grow();
        drainSoon();
      } else {
        const isNew = away === null;
        away = failure;
        if (isNew) listener.onChange(failure);
      }
    },
    async close() {
      closed = true;
      if (retry !== null) clearTimeout(retry);
      await Promise.all([draining, growing]);
      await file.close();
    },
  };
}

/**
 * True where the store was unavailable, or it is unknown whether it stored the operation. All other failures are
 * refusals of the operation itself.
 */
function isOutage(failure: unknown): boolean {
  return failure instanceof StoreError && !isAboutRequest(failure) && failure.kind !== 'closed';
}
