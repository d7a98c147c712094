/**
 * Defines the rows that tie what a provider keeps under the operator's account (responses, items, containers) to the
 * workspace that may use it. They are written by the end of the call that made it, in the same frame of the journal. Every
 * implementation passes the suite in `store/contracts/stored-state-contract.ts`. Source: contract, 10.12.
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
  /** Deletes everything of the workspace that the same call left. Durable when it resolves. */
  forget(owner: StateOwner, requestId: string): Promise<void>;
  /** Deletes expired rows and conversations; returns the number of rows. */
  sweep(nowMs: number): Promise<number>;
}
