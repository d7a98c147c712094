/** Owns the counters of one call's tokens, disjoint save `reasoning`. Knows no wire format and no price. */

/** Tokens of one call. `input` excludes cache reads and writes; `reasoning` is a part of `output`. All are integers ≥ 0. */
export interface Usage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/**
 * Where a record's counters come from: `upstream` its final numbers; `partial` its numbers up to where the stream
 * ended; `counted` our own estimate; `void` nothing was used; `checkpoint` and `cache` belong to recovery and replay.
 */
export type UsageSource = 'upstream' | 'partial' | 'counted' | 'checkpoint' | 'void' | 'cache';

export const ZERO_USAGE: Usage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};
