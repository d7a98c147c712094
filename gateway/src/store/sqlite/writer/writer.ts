/**
 * Owns when what is to be kept goes to the writer thread: at once if it is idle, else together as soon as it is done. What
 * nobody waits for goes with the next thing that somebody waits for. Knows no SQL.
 */
import type { Drained } from '../spool/drain-spool.ts';
import { StoreFailure } from '../store-failure.ts';
import type { Operation } from './ledger-operations.ts';
import { renderOperations } from './operation-batch.ts';
import { openWriterLink, type WriterPlace } from './writer-link.ts';
import {
  failureOf,
  troubleOf,
  type WriterFault,
  type WriterOpened,
  type WriterReply,
  type WriteStatement,
  wholeFailure,
} from './writer-messages.ts';

export interface Writer extends Readonly<WriterOpened> {
  /** Resolves once the operation is durable; rejects with a StoreFailure where it was not kept. In the order of the calls. */
  keep(operation: Operation): Promise<void>;
  /** As `keep`, for what nobody waits for: it wakes no idle writer, and lies for `UNHURRIED_MS` at most. */
  keepUnhurried(operation: Operation): Promise<void>;
  /** As `keep`, for statements that take effect all or none. */
  write(statements: readonly WriteStatement[]): Promise<void>;
  /** Takes what lies in the spool into the ledger; rejects with a StoreFailure, and nothing of it is in there then. */
  drain(): Promise<Drained>;
  /** One step of rolling up, where what is gathered waits so long for more; answers whether there is more to do now. Rejects with a StoreFailure. */
  fold(gatherMs: number): Promise<boolean>;
  writable(): boolean;
  /** Waits for what is under way, then closes the database. What comes after is rejected as `closed`. */
  close(): Promise<void>;
}

interface Settler {
  readonly resolve: () => void;
  readonly reject: (failure: StoreFailure) => void;
}

/** What goes to the thread together: the operations in one message, the administrative writes in another behind it. */
interface Batch {
  readonly operations: Operation[];
  readonly operationSettlers: Settler[];
  readonly writes: (readonly WriteStatement[])[];
  readonly writeSettlers: Settler[];
}

/** Bounds how long one message holds up the request thread (about a millisecond) and one transaction the writer. */
const BATCH_OPERATIONS_MAX = 1_000;

/**
 * Commits are at least so far apart. An idle writer is woken at once; under load a commit's own cost (about 0.1 ms of CPU,
 * whatever its size) is shared by more calls, for at most so much more latency. See docs/decisions/0003.
 */
const PACE_MS = 2;

/**
 * How long what nobody waits for may wait for company. A process that dies within it has not kept it, as one that dies before
 * a commit has not; a commit of its own costs 0.1 ms of CPU and a wait for the disk. See docs/decisions/0003.
 */
const UNHURRIED_MS = 10;

/** Opens the database in a writer thread, its tables brought up to date. @throws StoreFailure */
export async function startWriter(place: WriterPlace): Promise<Writer> {
  const link = await openWriterLink(place);
  const forming = emptyBatch();
  /** Somebody waits for some of what is forming. */
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

  /** An idle writer is woken once per turn of the event loop: calls that end in the same turn share one message. */
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
    fold(gatherMs) {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        link.request({ kind: 'fold', gatherMs }, (reply) => {
          if (typeof reply === 'object' && 'folded' in reply) resolve(reply.folded.more);
          else reject(wholeFailure(reply) ?? new Error('the writer did not say what it rolled up'));
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

/** Gives each promise of a batch its outcome: all durable, or those named in the reply not. */
function settleOperations(settlers: readonly Settler[], reply: WriterReply): void {
  const trouble = troubleOf(reply);
  if (trouble === null) {
    for (const { resolve } of settlers) resolve();
    return;
  }
  const refused = new Map<number, WriterFault>(trouble.refused.map(({ index, fault }) => [index, fault]));
  for (const [index, settler] of settlers.entries()) conclude(settler, trouble.failed ?? refused.get(index) ?? null);
}

function settleWrites(settlers: readonly Settler[], reply: WriterReply): void {
  const trouble = troubleOf(reply);
  for (const [index, settler] of settlers.entries()) {
    // Without an outcome of its own, a write shares that of the whole request.
    const outcome = trouble === null ? null : index in trouble.writes ? trouble.writes[index] : trouble.failed;
    conclude(settler, outcome ?? null);
  }
}

function conclude({ resolve, reject }: Settler, fault: WriterFault | null): void {
  if (fault === null) resolve();
  else reject(failureOf(fault));
}

function closedFailure(): StoreFailure {
  return new StoreFailure('closed', 'The store has been closed; nothing more is kept.');
}
