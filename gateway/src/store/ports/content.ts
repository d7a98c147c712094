/**
 * Defines the store for the request and response bodies of calls, kept separately from call records. Bodies are bytes;
 * the store knows no policy and no wire format.
 */
import type { QueryWord } from '../../lib/query/call-query.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';

/** The beginning of a body, and the body's full length. */
export interface StoredBytes {
  readonly bytes: Uint8Array;
  /** Greater than the length of `bytes` where the body was truncated. */
  readonly totalBytes: number;
}

/** The bodies of one call. Never headers: they carry credentials. */
export interface CallContent {
  readonly requestId: string;
  readonly account: string;
  readonly workspace: string;
  /** Unix ms of the call's arrival. */
  readonly atMs: number;
  /** The client's wire format, used by `request` and `response`. */
  readonly protocol: ClientProtocolName;
  /** The HTTP status sent to the client. */
  readonly status: number;
  /** True where `response` is an event stream. */
  readonly stream: boolean;
  /** As received from the client. */
  readonly request: StoredBytes;
  /** The body that the last attempt sent upstream. `same`: the exact bytes of `request`; null: nothing was sent. */
  readonly upstreamRequest: StoredBytes | 'same' | null;
  /** As sent to the client; for an interrupted stream, the part that was sent. */
  readonly response: StoredBytes;
  /** The upstream response where its format differs from that of `response`; else null. */
  readonly upstreamResponse: StoredBytes | null;
}

/** Content of the workspace that is older than `beforeMs` (unix ms) has expired. */
export interface ContentCutoff {
  readonly workspace: string;
  readonly beforeMs: number;
}

/** Chooses stored content by request id: `from` inclusive, `below` exclusive. */
export interface ContentRange {
  readonly account: string;
  /** Null: all of the account. */
  readonly workspaces: readonly string[] | null;
  readonly from: string;
  readonly below: string;
}

/** What a search through some calls found before its time was over. */
export interface ContentMatches {
  /** The calls that contain each word, in the order asked. */
  readonly found: readonly string[];
  /** How many of the calls asked were searched; at least one. */
  readonly searched: number;
}

export interface ContentStore {
  /** Takes ownership of the bytes' memory. Rejects with a StoreError where they could not be stored. */
  save(content: CallContent): Promise<void>;
  /** The workspace of a call with stored content; null: none in this account. */
  find(account: string, requestId: string): Promise<string | null>;
  /** Null: none in this account. Rejects where the content exists but cannot be read. */
  read(account: string, requestId: string): Promise<CallContent | null>;
  /** The ids of calls with content, newest first. */
  list(range: ContentRange, limit: number): Promise<readonly string[]>;
  /**
   * Decrypts the bodies of these calls in turn and searches the client's request and response, whatever the
   * case, for about `timeMs`. Calls whose content cannot be read are not found.
   */
  search(
    account: string,
    requestIds: readonly string[],
    words: readonly QueryWord[],
    timeMs: number,
  ): Promise<ContentMatches>;
  /**
   * Deletes expired content; returns the number of calls affected. `othersBeforeMs`: of workspaces without a cutoff, such
   * as those that a restored database does not have.
   */
  sweep(cutoffs: readonly ContentCutoff[], othersBeforeMs: number): Promise<number>;
  close(): Promise<void>;
}
