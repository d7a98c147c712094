/**
 * Batches operations for the writer thread: sends at once where it is idle, else together as soon as it is done.
 * Operations that no caller waits for go with the next one that a caller waits for.
 */

import { type StoreError, Unavailable } from '../../ports/store-errors.ts';
import type { Drained } from '../spool/drain-spool.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';
import { type Operation, renderOperations } from './ledger-operations.ts';

import { openWriterLink, type WriterPlace } from './writer-link.ts';
import {
  troubleOf,
  type WriterOpened,
  type WriterReply,
  type WriteStatement,
  wholeFailure,
} from './writer-messages.ts';

export interface Writer extends Readonly<WriterOpened> {
  /**
   * Resolves once the operation is durable; rejects with a StoreError where it was not stored. Operations apply in
   * call order.
   */
  keep(operation: Operation): Promise<void>;
  /**
   * As `keep`, for an operation that no caller waits for: does not wake an idle writer, and is delayed by at most
   * `UNHURRIED_MS`.
   */
  keepUnhurried(operation: Operation): Promise<void>;
  /** As `keep`, for statements that take effect together or not at all. */
  write(statements: readonly WriteStatement[]): Promise<void>;
  /** Moves the spool's entries into the ledger; rejects with a StoreError, and then none of them has been moved. */
  drain(): Promise<Drained>;
  writable(): boolean;
  /** Waits for pending work, then closes the database. Later requests are rejected as `closed`. */
  close(): Promise<void>;
}

interface Settler {
  readonly resolve: () => void;
  readonly reject: (failure: StoreError) => void;
}

/** One batch for the thread: the operations in one message, the administrative writes in another after it. */
interface Batch {
  readonly operations: Operation[];
  readonly operationSettlers: Settler[];
  readonly writes: (readonly WriteStatement[])[];
  readonly writeSettlers: Settler[];
}

/**
 * Limits how long one message blocks the request thread (about a millisecond) and one transaction blocks the writer.
 */
const BATCH_OPERATIONS_MAX = 1_000;

/**
 * Minimum time between commits. An idle writer is woken at once; under load more calls share a commit's own cost (about
 * 0.1 ms of CPU, whatever its size), for at most this much more latency. See docs/decisions/0003.
 */
const PACE_MS = 2;

/**
 * Maximum delay of an operation that no caller waits for, so that it can share a commit. A process that dies within it
 * loses the operation, just as one that dies before a commit does; a separate commit costs 0.1 ms of CPU and a wait for
 * the disk. See docs/decisions/0003.
 */
const UNHURRIED_MS = 10;

/** Opens the database in a writer thread and migrates its tables. @throws Unavailable */
export async function startWriter(place: WriterPlace): Promise<Writer> {
  const link = await openWriterLink(place);
  const forming = emptyBatch();
  /** A caller waits for something in the forming batch. */
  let due = false;
  let busy = false;
  let later: Timer | null = null;
  let pumpedMs = 0;
  let onIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  function pump(): void {
    pumpedMs = performance.now();
    if (!due) {
      busy = false;
      onIdle?.();
      return;
    }
    const { operations, operationSettlers, writes, writeSettlers } = takeBatch(forming);
    due = forming.operations.length > 0;
    let underWay = (operations.length > 0 ? 1 : 0) + (writes.length > 0 ? 1 : 0);
    const goOn = () => {
      underWay -= 1;
      if (underWay > 0) return;
      const restMs = pumpedMs + PACE_MS - performance.now();
      if (restMs > 0) setTimeout(pump, restMs);
      else setImmediate(pump);
    };
    if (operations.length > 0) {
      link.request(renderOperations(operations), (reply) => {
        settleOperations(operationSettlers, reply);
        goOn();
      });
    }
    if (writes.length > 0) {
      link.request({ kind: 'writes', writes }, (reply) => {
        settleWrites(writeSettlers, reply);
        goOn();
      });
    }
  }

  /** Wakes an idle writer once per turn of the event loop: calls that end in the same turn share one message. */
  function wake(): void {
    due = true;
    if (busy) return;
    busy = true;
    setImmediate(pump);
  }

  function wakeLater(): void {
    if (due || later !== null) return;
    later = setTimeout(() => {
      later = null;
      wakeForRest();
    }, UNHURRIED_MS);
  }

  function wakeForRest(): void {
    if (forming.operations.length > 0) wake();
  }

  function gather(operation: Operation, wakeWriter: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (closing !== null) return reject(closedFailure());
      forming.operations.push(operation);
      forming.operationSettlers.push({ resolve, reject });
      wakeWriter();
    });
  }

  async function drainAndClose(): Promise<void> {
    wakeForRest();
    if (busy) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    await link.close();
  }

  return {
    opened: link.opened,
    keep: (operation) => gather(operation, wake),
    keepUnhurried: (operation) => gather(operation, wakeLater),
    write(statements) {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        forming.writes.push(statements);
        forming.writeSettlers.push({ resolve, reject });
        wake();
      });
    },
    drain() {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        link.request({ kind: 'drain' }, (reply) => {
          if (reply !== true && 'drained' in reply) resolve(reply.drained);
          else reject(wholeFailure(reply) ?? new Error('the writer did not say what it took from the spool'));
        });
      });
    },
    writable: () => closing === null && link.writable(),
    close() {
      closing ??= drainAndClose();
      return closing;
    },
  };
}

function emptyBatch(): Batch {
  return { operations: [], operationSettlers: [], writes: [], writeSettlers: [] };
}

function takeBatch(forming: Batch): Batch {
  return {
    operations: forming.operations.splice(0, BATCH_OPERATIONS_MAX),
    operationSettlers: forming.operationSettlers.splice(0, BATCH_OPERATIONS_MAX),
    writes: forming.writes.splice(0),
    writeSettlers: forming.writeSettlers.splice(0),
  };
}

/** Settles each promise of a batch: all resolve, except those that the reply reports as failed. */
function settleOperations(settlers: readonly Settler[], reply: WriterReply): void {
  const trouble = troubleOf(reply);
  if (trouble === null) {
    for (const { resolve } of settlers) resolve();
    return;
  }
  const refused = new Map<number, Fault>(trouble.refused.map(({ index, fault }) => [index, fault]));
  for (const [index, settler] of settlers.entries()) conclude(settler, trouble.failed ?? refused.get(index) ?? null);
}

function settleWrites(settlers: readonly Settler[], reply: WriterReply): void {
  const trouble = troubleOf(reply);
  for (const [index, settler] of settlers.entries()) {
    // A write without its own outcome shares that of the whole request.
    const outcome = trouble === null ? null : index in trouble.writes ? trouble.writes[index] : trouble.failed;
    conclude(settler, outcome ?? null);
  }
}

function conclude({ resolve, reject }: Settler, fault: Fault | null): void {
  if (fault === null) resolve();
  else reject(errorOf(fault));
}

function closedFailure(): Unavailable {
  return new Unavailable('closed', 'The store has been closed.');
}
