/**
 * Defines the rows that tie what a provider keeps under the operator's account (responses, items, containers, files) to the
 * workspace that may use it. They are written by the end of the call that made it, in the same frame of the journal, or as
 * soon as the provider has made what a client created. Every implementation passes the suite in
 * `store/contracts/stored-state-contract.ts`. Source: contract, 10.12.
 */

/** `kind`: `response`, `item`, … */
export interface StoredThing {
  readonly kind: string;
  readonly id: string;
}

/** What a call left at its provider, with its end. The account, the workspace and the request are those of its record. */
export interface StoredByCall {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** The name of the credential: the account at the provider that keeps it. */
  readonly credential: string;
  /** The tokens of the conversation so far, which a call that continues it pays again. */
  readonly tokens: number;
  /** Those of the answer alone: no item of it has more. */
  readonly output_tokens: number;
  /** Unix ms; no row is used after it. */
  readonly expires_at_ms: number;
  readonly things: readonly StoredThing[];
}

/** One thing of one workspace; `tokens` are its own. Ids of another workspace are other rows, also if they are equal. */
export interface StoredRow extends StoredThing, Omit<StoredByCall, 'things' | 'output_tokens'> {
  readonly account: string;
  readonly workspace: string;
  readonly request_id: string;
  /** What the provider answered when a client created it, as JSON, for lists; null: a call left it, or there is no list. */
  readonly object: string | null;
}

/** Of a row that does not expire. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** A page of a list. */
export interface StoredPage {
  readonly kind: string;
  /** Only what these providers keep. */
  readonly providers: readonly string[];
  /** Only objects whose member `purpose` has this value; null: all. */
  readonly purpose: string | null;
  /** `newest` and the older ones, or `oldest` and the newer ones. */
  readonly first: 'newest' | 'oldest';
  /** The request that created the row before the page; null: the page is the first. */
  readonly after: string | null;
  readonly limit: number;
}

/** Maximum total size of the sealed conversations of one account. */
export const KEPT_BYTES_PER_ACCOUNT_MAX = 256 * 1024 * 1024;

/** Whose rows. */
export interface StateOwner {
  readonly account: string;
  readonly workspace: string;
}

export interface StoredStateStore {
  /** The rows of the workspace with these ids, as of all calls that have ended. Rejects where they cannot be read. */
  find(owner: StateOwner, ids: readonly string[], nowMs: number): Promise<readonly StoredRow[]>;
  /**
   * Keeps the sealed conversation of a call until it expires. `no_room`: those of its account would exceed their limit.
   * Durable when it resolves.
   */
  keep(owner: StateOwner, requestId: string, sealed: Uint8Array, expiresAtMs: number): Promise<'kept' | 'no_room'>;
  /** Null: none of the workspace. */
  readKept(owner: StateOwner, requestId: string): Promise<Uint8Array | null>;
  /** Writes a row, also in place of one. Durable when it resolves. */
  add(row: StoredRow): Promise<void>;
  /** Adds to the tokens of the row of the workspace with this id, if it has one. Durable when it resolves. */
  addTokens(owner: StateOwner, id: string, tokens: number): Promise<void>;
  /** The rows of the workspace that have an object, in the order of their creation. */
  list(owner: StateOwner, page: StoredPage, nowMs: number): Promise<readonly StoredRow[]>;
  /** Deletes the row of the workspace with this id. Durable when it resolves. */
  remove(owner: StateOwner, id: string): Promise<void>;
  /**
   * Deletes the response that the call left, its items and its conversation kept here; what outlives a response stays:
   * conversations, containers and files. Durable when it resolves.
   */
  forget(owner: StateOwner, requestId: string): Promise<void>;
  /** Deletes expired rows and conversations; returns the number of rows. */
  sweep(nowMs: number): Promise<number>;
}
