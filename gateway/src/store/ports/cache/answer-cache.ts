/**
 * Defines the store of cached answers: complete answers to requests, which answer the same request of the same workspace
 * again. Loses answers whenever it must; then the request goes to a provider. Every implementation passes the suite in
 * `store/contracts/answer-cache-contract.ts`.
 */

/** The request that an answer belongs to. */
export interface CachedAnswerName {
  readonly account: string;
  readonly workspace: string;
  /** Keyed hash (hex) of everything that may change the answer, account and workspace included. */
  readonly hash: string;
}

export interface CachedAnswer extends CachedAnswerName {
  /** The request that a provider answered. */
  readonly requestId: string;
  /** Unix ms of that request's arrival: its content expires by it. */
  readonly atMs: number;
  /** `body` is an event stream. */
  readonly stream: boolean;
  /** Of the reply: those that describe the answer. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly servedModel: string | null;
  readonly provider: string | null;
  readonly finishReason: string | null;
  /** As the client got it. */
  readonly body: Uint8Array;
}

/** Limits in bytes as stored; beyond them the oldest answers are deleted. */
export interface CacheLimits {
  readonly perWorkspace: number;
  readonly total: number;
}

/** Answers of the workspace that arrived before `beforeMs` (unix ms) have expired. */
export interface CacheCutoff {
  readonly workspace: string;
  readonly beforeMs: number;
}

export interface AnswerCacheStore {
  /**
   * Replaces an answer of the same name. Takes ownership of the body's memory. An answer beyond the limit of a workspace
   * is not stored. Rejects with a StoreError where it could not be stored.
   */
  save(answer: CachedAnswer): Promise<void>;
  /** Null: none of this name that arrived at `sinceMs` (unix ms) or later. Rejects where it exists but cannot be read. */
  find(name: CachedAnswerName, sinceMs: number): Promise<CachedAnswer | null>;
  /** Deletes expired answers, and those of workspaces without a cutoff; returns their number. */
  sweep(cutoffs: readonly CacheCutoff[]): Promise<number>;
  close(): Promise<void>;
}
