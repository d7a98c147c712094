/**
 * Owns what becomes of the ends and extensions of running calls while the store takes no writes: they go into the spool's
 * file, and from there into the ledger before the store counts as writable again. Knows neither SQL nor bytes.
 */

import type { Reach } from '../failpoints.ts';
import { StoreFailure } from '../store-failure.ts';
import type { Operation } from '../writer/ledger-operations.ts';
import type { Writer } from '../writer/writer.ts';
import { type Drained, spoolPath } from './drain-spool.ts';
import { openSpoolFile, setSpoolAside } from './spool-file.ts';

export interface Spool {
  /** Keeps what a call that is held asks for: in the ledger, else in the spool. Rejects where neither takes it, as the ledger did. */
  keep(call_id: string, operation: Operation): Promise<void>;
  /** Keeps it in the spool, whence the ledger gets it as soon as it can. */
  keepLater(call_id: string, operation: Operation): Promise<void>;
  /** So many calls run: room is taken for the ends of all of them. */
  provideFor(runningCalls: number): void;
  /** False from a failed write until a write has worked and what was spooled is in the ledger. */
  writable(): boolean;
  /** The writer's word, in place of whoever asked for it. */
  onWriterChange(failure: StoreFailure | null): void;
  close(): Promise<void>;
}

/** Whom the spool tells. */
export interface SpoolListener {
  /** Writing fails (with the reason); or works again (null), and the ledger has all that was spooled. */
  onChange(failure: StoreFailure | null): void;
  /** Sentences for the operator. */
  onProblem(problem: string): void;
  /** The ends of so many calls came from the spool into the ledger. */
  onDrained(calls: number): void;
}

/** A settlement takes about 1 KB; its texts and three attempts at their longest take 4. */
const CALL_BYTES = 4_096;
const ROOM_BYTES_MIN = 1_048_576;
/** Between two tries to take the spool's entries in. */
const RETRY_MS = 500;

/** Opens the spool beside the database. `drained` is what the writer found in it when it opened. */
export async function openSpool(
  database: string,
  writer: Pick<Writer, 'keep' | 'writable' | 'drain'>,
  drained: Drained,
  listener: SpoolListener,
  reach: Reach,
): Promise<Spool> {
  const path = spoolPath(database);
  if (drained.problems.length > 0) await tellProblems(drained);
  const file = await openSpoolFile(path, reach);
  /** Calls of which something goes into the spool or lies there, with how much: what else they ask for must not overtake it. */
  const spooled = new Map<string, number>();
  /** The call of each entry that lies in the file. */
  let written: string[] = [];
  let away: StoreFailure | null = null;
  let isDraining = false;
  let draining: Promise<void> = Promise.resolve();
  /** Something came that the draining under way may have missed. */
  let again = false;
  let growing: Promise<void> | null = null;
  let wantedBytes = ROOM_BYTES_MIN;
  let retry: Timer | null = null;
  let closed = false;

  async function tellProblems({ problems }: Drained): Promise<void> {
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
      throw new StoreFailure('unwritable', `The store takes no writes, and the spool takes none: ${problem}.`);
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
        // Where the store is away again, its return starts this anew.
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
    if (taken.problems.length > 0) await tellProblems(taken);
    if (taken.settled > 0) listener.onDrained(taken.settled);
    for (const call_id of written) leave(call_id);
    written = [];
    return true;
  }

  function tryLater(fault: unknown): void {
    listener.onProblem(`what lies in ${path} could not be taken into the ledger yet: ${String(fault)}`);
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
        // The room that there is stays. Whoever has none is about to be full: asked again once the store was away and is back.
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

/** The store was away, or whether it kept it is not known. All else was refused for what it is. */
function isOutage(failure: unknown): boolean {
  const kind = failure instanceof Error && 'kind' in failure ? failure.kind : null;
  return kind === 'full' || kind === 'unwritable' || kind === 'writer-lost' || kind === 'foreign';
}
