/**
 * Owns when what is to be kept goes to the writer thread: at once if it is idle, else together as soon as it is done.
 * That is group commit without a timer. Knows no SQL.
 */
import type { CallRecord } from '../ports.ts';
import { StoreFailure } from './store-failure.ts';
import { openWriterLink, type WriterPlace } from './writer-link.ts';
import { failureOf, type WriterFault, type WriterReply, type WriteStatement } from './writer-messages.ts';

export interface Writer {
  /** Resolves once the record is durable; rejects with a StoreFailure where it was not kept. */
  append(record: CallRecord): Promise<void>;
  /** As `append`, for statements that take effect all or none. */
  write(statements: readonly WriteStatement[]): Promise<void>;
  writable(): boolean;
  /** Waits for what is under way, then closes the database. What comes after is rejected as `closed`. */
  close(): Promise<void>;
}

interface Settler {
  readonly resolve: () => void;
  readonly reject: (failure: StoreFailure) => void;
}

/** What goes to the thread in one message. */
interface Batch {
  readonly records: CallRecord[];
  readonly recordSettlers: Settler[];
  readonly writes: (readonly WriteStatement[])[];
  readonly writeSettlers: Settler[];
}

/** Bounds how long one message holds up the request thread (about a millisecond) and one transaction the writer. */
const BATCH_RECORDS_MAX = 1_000;

/** Opens the database in a writer thread, its tables brought up to date. @throws StoreFailure */
export async function startWriter(place: WriterPlace): Promise<Writer> {
  const link = await openWriterLink(place);
  const forming = emptyBatch();
  let busy = false;
  let onIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  function pump(): void {
    if (forming.records.length === 0 && forming.writes.length === 0) {
      busy = false;
      onIdle?.();
      return;
    }
    const batch = takeBatch(forming);
    link.request(
      {
        kind: 'batch',
        records: batch.records.length === 0 ? null : JSON.stringify(batch.records),
        writes: batch.writes,
      },
      (reply) => {
        settle(batch, reply);
        pump();
      },
    );
  }

  /** An idle writer is woken once per turn of the event loop: calls that end in the same turn share one message. */
  function wake(): void {
    if (busy) return;
    busy = true;
    setImmediate(pump);
  }

  async function drainAndClose(): Promise<void> {
    if (busy) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    await link.close();
  }

  return {
    append(record) {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        forming.records.push(record);
        forming.recordSettlers.push({ resolve, reject });
        wake();
      });
    },
    write(statements) {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        forming.writes.push(statements);
        forming.writeSettlers.push({ resolve, reject });
        wake();
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
  return { records: [], recordSettlers: [], writes: [], writeSettlers: [] };
}

function takeBatch(forming: Batch): Batch {
  return {
    records: forming.records.splice(0, BATCH_RECORDS_MAX),
    recordSettlers: forming.recordSettlers.splice(0, BATCH_RECORDS_MAX),
    writes: forming.writes.splice(0),
    writeSettlers: forming.writeSettlers.splice(0),
  };
}

/** Gives each promise of a batch its outcome: all durable, or those named in the reply not. */
function settle({ recordSettlers, writeSettlers }: Batch, reply: WriterReply): void {
  if (reply === true) {
    for (const { resolve } of recordSettlers) resolve();
    for (const { resolve } of writeSettlers) resolve();
    return;
  }
  const refused = new Map<number, WriterFault>(reply.refused.map(({ index, fault }) => [index, fault]));
  for (const [index, settler] of recordSettlers.entries())
    conclude(settler, reply.failed ?? refused.get(index) ?? null);
  for (const [index, settler] of writeSettlers.entries()) {
    // Without an outcome of its own, a write shares that of the whole request.
    const outcome = index in reply.writes ? reply.writes[index] : reply.failed;
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
