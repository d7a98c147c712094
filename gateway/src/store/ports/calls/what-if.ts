/** Defines the question what past calls would cost at the price of another model, from their recorded usage. */
import type { CallsQuestion } from '../usage.ts';

export interface WhatIfQuestion extends CallsQuestion {
  /** The version text of the other price, which contains its numbers. */
  readonly priceVersion: string;
}

/** Calls of one requested model, served by one model, with one key. Amounts in nano-USD. */
export interface WhatIfGroup {
  readonly model: string | null;
  readonly served: string | null;
  readonly keyId: string;
  /** Of the newest of these calls. */
  readonly keyName: string;
  readonly requests: number;
  /** As charged. */
  readonly now: bigint;
  /** At the other price. */
  readonly other: bigint;
  /** `other`, if no token were read from a cache or written to one. */
  readonly otherUncached: bigint;
  /** The part of `other` for reasoning tokens. */
  readonly otherReasoning: bigint;
  readonly reasoningTokens: number;
}

export interface WhatIfAnswer {
  readonly groups: readonly WhatIfGroup[];
  /** Calls in a tier of their own, which are computed at the list price of the other model. */
  readonly tiered: number;
  /** Calls that are in no sum: without a price now; of a format that the other model does not serve. */
  readonly unpriced: number;
  readonly otherFormats: number;
  /** The time was over: only calls from this id, and this time (unix ms), on are in the answer. Null: all are. */
  readonly next: { readonly id: string; readonly countedFromMs: number } | null;
}

/** Rejects as `UsageReader`. */
export interface WhatIfReader {
  /** Of a part of the calls where the time is over; the answer then has the place to continue from. */
  readWhatIf(question: WhatIfQuestion): Promise<WhatIfAnswer>;
}
