/**
 * Defines the store for runs under an idempotency key. Answers are stored as sealed bytes. Every implementation passes
 * the suite in `store/contracts/idempotency-contract.ts`.
 */

/** How long a run is remembered after it began. Contract, 8. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Maximum total size of the sealed answers of one API key. The rest of a run's data is smaller than its call's record.
 */
export const KEPT_BYTES_PER_KEY_MAX = 256 * 1024 * 1024;

/** One run. The same `nameHash` under the same `keyId` identifies the same run while it is remembered. */
export interface RunName {
  readonly keyId: string;
  /** Keyed hashes (hex) of the idempotency key and of the request body. */
  readonly nameHash: string;
  readonly bodyHash: string;
  /** The request id of the call that began the run. */
  readonly callId: string;
}

/**
 * Why an ended run has no stored answer. `incomplete`: it incurred a charge and broke off; `too_large`: the answer
 * exceeds the size limit; `no_room`: the API key's stored answers exceed their limit, or memory had no room for the
 * answer.
 */
export const NOT_STORED_REASONS = ['incomplete', 'too_large', 'no_room'] as const;
export type NotStoredReason = (typeof NOT_STORED_REASONS)[number];

/**
 * The result of `begin`. `began`: no earlier run, so this call runs. `replay`: the answer of an earlier run. `running`:
 * an earlier run is still in progress. `cut`: the process of an earlier run died before the run's end was stored.
 * `not_stored`: an earlier run ended without a stored answer. `other_body`: an earlier run had a different request body.
 */
export type BeginOutcome =
  | { readonly kind: 'began' }
  | { readonly kind: 'replay'; readonly run: RunName; readonly sealed: Uint8Array }
  | { readonly kind: 'running' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'not_stored'; readonly reason: NotStoredReason }
  | { readonly kind: 'other_body' };

/**
 * Every promise resolves once its effect is durable, and rejects where it could not be stored. A run ends once, with
 * `keep`, `end` or `forget`, called by the call that began it. If storing the end fails, the run is `cut` from then on.
 */
export interface IdempotencyStore {
  /** Of any number of concurrent calls, exactly one begins. */
  begin(run: RunName, nowMs: number): Promise<BeginOutcome>;
  /** Ends the run with an answer. `no_room`: the run is remembered without its answer. */
  keep(run: RunName, sealed: Uint8Array): Promise<'kept' | 'no_room'>;
  /** Ends the run without an answer; it must not be repeated under its key. */
  end(run: RunName, reason: NotStoredReason): Promise<void>;
  /** Removes the run as if it had never begun: nothing was charged. */
  forget(run: RunName): Promise<void>;
  /** Deletes expired runs; returns their number. */
  sweep(nowMs: number): Promise<number>;
}
