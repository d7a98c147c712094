/**
 * Owns the interface through which what was said in calls is kept, apart from their records, and the shapes it keeps. Knows
 * no database, no policy and no wire format: bodies are bytes.
 */

/** The beginning of a body, and how long all of it was. */
export interface KeptBytes {
  readonly bytes: Uint8Array;
  /** More than there are `bytes`: the rest was not kept. */
  readonly totalBytes: number;
}

/** What was said in one call. Never a header: credentials travel there. */
export interface CallContent {
  readonly requestId: string;
  readonly account: string;
  readonly workspace: string;
  /** Unix ms of the call's arrival. */
  readonly atMs: number;
  /** The client's format, in which `request` and `response` are. */
  readonly protocol: 'chat' | 'messages';
  /** What the client got, as its status says. */
  readonly status: number;
  /** `response` is an event stream. */
  readonly stream: boolean;
  /** As it came in. */
  readonly request: KeptBytes;
  /** What the last attempt sent upstream. `same`: the very bytes of `request`; null: nothing was sent. */
  readonly upstreamRequest: KeptBytes | 'same' | null;
  /** As it went out; a stream as far as it went. */
  readonly response: KeptBytes;
  /** What upstream answered, where that was in another format than `response`; else null. */
  readonly upstreamResponse: KeptBytes | null;
}

/** What is older than `beforeMs` (unix ms) is no longer kept in the workspace. */
export interface ContentCutoff {
  readonly workspace: string;
  readonly beforeMs: number;
}

export interface ContentStore {
  /** Takes the bytes over: their memory is the store's from now on. Rejects where they could not be kept. */
  keep(content: CallContent): Promise<void>;
  /** The workspace of a call whose content is kept; null: none is, in this account. */
  find(account: string, requestId: string): Promise<string | null>;
  /** Null: none is kept in this account. Rejects where it is, and cannot be read. */
  read(account: string, requestId: string): Promise<CallContent | null>;
  /** Takes away what is too old; answers of how many calls. */
  sweep(cutoffs: readonly ContentCutoff[]): Promise<number>;
  close(): Promise<void>;
}
