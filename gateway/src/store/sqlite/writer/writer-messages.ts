/** Owns the words between the request thread and the writer thread. Requests are answered in order, each once. */

import type { Recovered } from '../ledger/recover-holds.ts';
import type { Drained } from '../spool/drain-spool.ts';
import { StoreFailure, type StoreFailureKind } from '../store-failure.ts';

/**
 * One statement of an administrative write. Where it changes another number of rows than `changes`, the write is undone;
 * null: any number will do.
 */
export interface WriteStatement {
  readonly sql: string;
  readonly parameters: readonly (string | number | null)[];
  readonly changes: number | null;
}

export interface OpenRequest {
  readonly kind: 'open';
  readonly path: string;
  readonly databaseBytesMax: number | null;
  /** The epoch to go on in, after a writer was lost; null: the next one is taken. */
  readonly epoch: number | null;
}

/**
 * A string is a batch of operations (`operation-batch.ts`), all in one transaction. It goes as it is because a bare
 * string crosses threads for an eighth of what any object costs (3 against 22 µs for 20 records).
 */
export type WriterRequest =
  | string
  | OpenRequest
  /** Each a transaction of its own. */
  | { readonly kind: 'writes'; readonly writes: readonly (readonly WriteStatement[])[] }
  /** Takes what lies in the spool into the ledger. */
  | { readonly kind: 'drain' }
  /** Writes and takes back a few pages, to find out whether the disk takes writes again. */
  | { readonly kind: 'probe' }
  /** Rolls up some records; what is gathered may wait so long for more. */
  | { readonly kind: 'fold'; readonly gatherMs: number }
  | { readonly kind: 'close' };

export interface WriterFault {
  readonly kind: StoreFailureKind;
  readonly message: string;
}

/** One operation that was not kept, by its place in the batch. */
export interface RefusedOperation {
  readonly index: number;
  readonly fault: WriterFault;
}

/** What was not kept; what is not named here is durable. */
export interface WriterTrouble {
  /** The whole request failed, or all operations of the batch. */
  readonly failed: WriterFault | null;
  /** Single operations that were refused. */
  readonly refused: readonly RefusedOperation[];
  /** One for each write of the batch; null where it is durable. Empty where the whole request failed. */
  readonly writes: readonly (WriterFault | null)[];
}

/** What a writer found and did when it opened the database. */
export interface WriterOpened {
  readonly opened: { readonly epoch: number; readonly recovered: Recovered; readonly drained: Drained };
}

/** What a writer took from the spool; durable. */
export interface WriterDrained {
  readonly drained: Drained;
}

/** Whether there is more to roll up. */
export interface WriterFolded {
  readonly folded: { readonly more: boolean };
}

/** `true`: everything asked for is durable. */
export type WriterReply = true | WriterOpened | WriterDrained | WriterFolded | WriterTrouble;

/** The reply to a request that failed as a whole. */
export function failedReply({ kind, message }: StoreFailure): WriterTrouble {
  return { failed: { kind, message }, refused: [], writes: [] };
}

/** What was not kept; null where everything was. */
export function troubleOf(reply: WriterReply): WriterTrouble | null {
  return reply === true || 'opened' in reply || 'drained' in reply || 'folded' in reply ? null : reply;
}

/** The fault that kept all of a request, or null. Errors lose their class between threads; this gives it back. */
export function wholeFailure(reply: WriterReply): StoreFailure | null {
  const failed = troubleOf(reply)?.failed ?? null;
  return failed === null ? null : failureOf(failed);
}

/** The failure that a fault stands for. */
export function failureOf({ kind, message }: WriterFault): StoreFailure {
  return new StoreFailure(kind, message);
}
