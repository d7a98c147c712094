/** Owns the counters of one call: disjoint, save those that are parts of others. Knows no wire format and no price. */
import type { UsageApart } from './usage-apart.ts';

/** Tokens of one call. `input` excludes cache reads and writes; `reasoning` is a part of `output`. All are integers ≥ 0. */
export interface Usage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** What few calls have; absent where there is none of it. */
  readonly apart?: UsageApart;
}

/**
 * Where a record's counters come from: `upstream` its final numbers; `partial` its numbers up to where the stream
 * ended; `counted` our own estimate; `void` nothing was used; `checkpoint` and `cache` belong to recovery and replay.
 */
export type UsageSource = 'upstream' | 'partial' | 'counted' | 'checkpoint' | 'void' | 'cache';

/**
 * What is odd about upstream's numbers, which count all the same. `sum`: the parts do not come to the whole; `cached`: more
 * was cached than there was; `reasoning`: more than all output; `far_input`, `far_output`: far from our own estimate.
 */
export type UsageFlag = 'sum' | 'cached' | 'reasoning' | 'far_input' | 'far_output';

/** Counters as upstream told them, and what is odd about them. */
export interface ToldUsage {
  readonly usage: Usage;
  readonly flags: readonly UsageFlag[];
}

export const NO_FLAGS: readonly UsageFlag[] = [];

export const ZERO_USAGE: Usage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};
