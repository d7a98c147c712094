/** Owns the words between the request thread and the writer thread. Requests are answered in order, each once. */
import { StoreFailure, type StoreFailureKind } from './store-failure.ts';

/** One statement of an administrative write. Where it changes another number of rows than `changes`, the write is undone. */
export interface WriteStatement {
  readonly sql: string;
  readonly parameters: readonly (string | number | null)[];
  readonly changes: number;
}

/**
 * A string is a JSON list of call records, each the list of its values in column order, all in one transaction. It goes as
 * it is because a bare string crosses threads for an eighth of what any object costs (3 against 22 µs for 20 records).
 */
export type WriterRequest =
  | string
  | { readonly kind: 'open'; readonly path: string; readonly databaseBytesMax: number | null }
  /** Each a transaction of its own. */
  | { readonly kind: 'writes'; readonly writes: readonly (readonly WriteStatement[])[] }
  /** Writes and takes back a few pages, to find out whether the disk takes writes again. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

export interface WriterFault {
  readonly kind: StoreFailureKind;
  readonly message: string;
}

/** What was not kept; what is not named here is durable. */
export interface WriterTrouble {
  /** The whole request failed, or all records of the batch. */
  readonly failed: WriterFault | null;
  /** Single records that the database refused, by their place in the batch. */
  readonly refused: readonly { readonly index: number; readonly fault: WriterFault }[];
  /** One for each write of the batch; null where it is durable. Empty where the whole request failed. */
  readonly writes: readonly (WriterFault | null)[];
}

/** `true`: everything asked for is durable. */
export type WriterReply = true | WriterTrouble;

/** The reply to a request that failed as a whole. */
export function failedReply({ kind, message }: StoreFailure): WriterReply {
  return { failed: { kind, message }, refused: [], writes: [] };
}

/** The fault that kept all of a request, or null. Errors lose their class between threads; this gives it back. */
export function wholeFailure(reply: WriterReply): StoreFailure | null {
  return reply === true || reply.failed === null ? null : failureOf(reply.failed);
}

/** The failure that a fault stands for. */
export function failureOf({ kind, message }: WriterFault): StoreFailure {
  return new StoreFailure(kind, message);
}
