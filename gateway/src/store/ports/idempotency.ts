/**
 * Owns the interface through which runs under an idempotency key are remembered, and the shapes it keeps. Knows no
 * database and no answer: what is kept is sealed bytes. Every implementation is run through
 * `store/contracts/idempotency-contract.ts`.
 */

/** How long a run is remembered, from its beginning. Contract, 8. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;

/** All sealed answers that one API key has kept at a time. What a run leaves beside its answer is smaller than its call's record. */
export const KEPT_BYTES_PER_KEY_MAX = 256 * 1024 * 1024;

/** One run. The same `nameHash` under the same `keyId` is the same run for as long as it is remembered. */
export interface RunName {
  readonly keyId: string;
  /** Keyed hashes, hex: what the caller named the run, and what it asked for. */
  readonly nameHash: string;
  readonly bodyHash: string;
  /** The request id of the call that began it. */
  readonly callId: string;
}

/**
 * Why a run that ended has no answer to give: `incomplete` it charged something and broke off; `too_large` the answer is
 * over the bound; `no_room` the key's kept answers together are, or memory had no room for it.
 */
export const UNKEPT_REASONS = ['incomplete', 'too_large', 'no_room'] as const;
export type UnkeptReason = (typeof UNKEPT_REASONS)[number];

/**
 * What a beginning met: nothing (`began`, and this call is the one that runs); the answer of an earlier run; an earlier run
 * that still goes on, or whose process died before its end was kept (`cut`), or that ended without an answer; an earlier
 * run that asked for something else.
 */
export type BeginOutcome =
  | { readonly kind: 'began' }
  | { readonly kind: 'replay'; readonly run: RunName; readonly sealed: Uint8Array }
  | { readonly kind: 'running' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'unkept'; readonly reason: UnkeptReason }
  | { readonly kind: 'other_body' };

/**
 * Every promise resolves once what it says is durable, and rejects where it could not be kept. A run has one end: `keep`,
 * `end` or `forget`, asked by whoever began it. Where its end is rejected, the run is `cut` from then on.
 */
export interface IdempotencyStore {
  /** Of any number at once, one begins. */
  begin(run: RunName, nowMs: number): Promise<BeginOutcome>;
  /** The run has an answer. `no_room`: it is remembered without. */
  keep(run: RunName, sealed: Uint8Array): Promise<'kept' | 'no_room'>;
  /** The run has none, and is never to be repeated under its name. */
  end(run: RunName, reason: UnkeptReason): Promise<void>;
  /** As if it had never begun: nothing was charged. */
  forget(run: RunName): Promise<void>;
  /** Takes away what is no longer remembered; answers how many runs. */
  sweep(nowMs: number): Promise<number>;
}
