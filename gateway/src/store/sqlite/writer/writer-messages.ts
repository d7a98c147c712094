/** Defines the messages between the request thread and the writer thread. Requests are answered in order, each once. */

import type { Recovered, UnendedCall } from '../../ledger/end-unended.ts';
import type { JournalEnd } from '../../ports/journal.ts';
import type { StoreError } from '../../ports/store-errors.ts';
import type { Ingested } from '../ingest/ingest.ts';
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
  /** After a thread was lost: the stream to go on with, whose journal is in use. Null: recover what is there. */
  readonly stream: Uint8Array | null;
}

export type WriterRequest =
  | OpenRequest
  /** Each write takes effect on its own. */
  | { readonly kind: 'writes'; readonly writes: readonly (readonly WriteStatement[])[] }
  /** Brings the tables up to a durable block of the journal. */
  | { readonly kind: 'ingest'; readonly throughSeq: number }
  /** Adds charges from before an upgrade, or builds chunks of records, for about 20 ms. */
  | { readonly kind: 'chunk' }
  /** Writes and deletes a few pages, to check whether the disk accepts writes again. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

/** What the opening found. Everything that is in the journal is in the tables. */
export interface OpenedJournal {
  readonly stream: Uint8Array;
  readonly end: JournalEnd;
  /** The highest epoch of the journal; this start takes the next. */
  readonly epoch: number;
  /** The calls that the previous process left holding money, by id. */
  readonly left: readonly UnendedCall[];
  /** Calls of a folder from before the journal that its take-over ended, as a start ends those that were left. */
  readonly recovered: Recovered;
  /** Calls of such a folder that ended by what its spool held. */
  readonly spooled: number;
  /** Sentences for the operator. */
  readonly problems: readonly string[];
}

/** The failed parts of a request; everything else is durable. */
export interface WriterTrouble {
  /** Set where the whole request failed. */
  readonly failed: Fault | null;
  /** One per write of the request; null where it is durable. Empty where the whole request failed. */
  readonly writes: readonly (Fault | null)[];
}

export interface WriterOpened {
  readonly opened: OpenedJournal;
}

interface WriterIngested {
  readonly ingested: Ingested;
}

interface WriterChunked {
  /** False: nothing is left to do. */
  readonly chunked: boolean;
}

/** `true`: everything requested is durable. */
export type WriterReply = true | WriterOpened | WriterIngested | WriterChunked | WriterTrouble;

/** Builds the reply to a request that failed as a whole. */
export function failedReply({ kind, message }: Fault): WriterTrouble {
  return { failed: { kind, message }, writes: [] };
}

/** Returns the failed parts of a reply; null: none. */
export function troubleOf(reply: WriterReply): WriterTrouble | null {
  const isDone = reply === true || 'opened' in reply || 'ingested' in reply || 'chunked' in reply;
  return isDone ? null : reply;
}

/** Returns the failure of the whole request, or null. Errors lose their class between threads; this restores it. */
export function wholeFailure(reply: WriterReply): StoreError | null {
  const failed = troubleOf(reply)?.failed ?? null;
  return failed === null ? null : errorOf(failed);
}
