/** Defines the messages between the request thread and the writer thread. Requests are answered in order, each once. */

import type { StoreError } from '../../ports/store-errors.ts';
import type { Recovered } from '../ledger/ledger-epoch.ts';
import type { Drained } from '../spool/drain-spool.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';

/**
 * One statement of an administrative write. If it changes a number of rows other than `changes`, the write is rolled
 * back; null: any number.
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
  /** The epoch to continue in after a writer was lost; null: take the next one. */
  readonly epoch: number | null;
}

/**
 * A string is a batch of operations (`ledger-operations.ts`), all in one transaction. A bare string crosses threads for
 * an eighth of the cost of any object (3 against 22 µs for 20 records).
 */
export type WriterRequest =
  | string
  | OpenRequest
  /** Each write takes effect on its own. */
  | { readonly kind: 'writes'; readonly writes: readonly (readonly WriteStatement[])[] }
  /** Moves the spool's entries into the ledger. */
  | { readonly kind: 'drain' }
  /** Writes and deletes a few pages, to check whether the disk accepts writes again. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

/** One refused operation, by its index in the batch. */
export interface RefusedOperation {
  readonly index: number;
  readonly fault: Fault;
}

/** The failed parts of a request; everything else is durable. */
export interface WriterTrouble {
  /** Set where the whole request failed, or every operation of the batch. */
  readonly failed: Fault | null;
  /** Operations that were refused individually. */
  readonly refused: readonly RefusedOperation[];
  /** One per write of the batch; null where it is durable. Empty where the whole request failed. */
  readonly writes: readonly (Fault | null)[];
}

/** The result of opening the database. */
export interface WriterOpened {
  readonly opened: { readonly epoch: number; readonly recovered: Recovered; readonly drained: Drained };
}

/** The entries taken from the spool; durable. */
export interface WriterDrained {
  readonly drained: Drained;
}

/** `true`: everything requested is durable. */
export type WriterReply = true | WriterOpened | WriterDrained | WriterTrouble;

/** Builds the reply to a request that failed as a whole. */
export function failedReply({ kind, message }: Fault): WriterTrouble {
  return { failed: { kind, message }, refused: [], writes: [] };
}

/** Returns the failed parts of a reply; null: none. */
export function troubleOf(reply: WriterReply): WriterTrouble | null {
  return reply === true || 'opened' in reply || 'drained' in reply ? null : reply;
}

/** Returns the failure of the whole request, or null. Errors lose their class between threads; this restores it. */
export function wholeFailure(reply: WriterReply): StoreError | null {
  const failed = troubleOf(reply)?.failed ?? null;
  return failed === null ? null : errorOf(failed);
}
