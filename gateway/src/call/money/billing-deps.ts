/** Defines the billing and limit dependencies of a call, as the composition root passes them. */
import type { Limits } from '../../admission/admission.ts';
import type { LimitRules, ZoneOf } from '../../admission/limit-rules.ts';
import type { Price } from '../../billing/price.ts';
import type { Ledger } from '../../store/ports/ledger.ts';
import type { RetryTokens } from '../plan/retry-tokens.ts';
import type { LimitProofs } from './limit-proofs.ts';
import type { TokenRatio, UsageAnomalyLog } from './usage-checks.ts';

export interface BillingDeps {
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** Limits for token counts, in separate buckets. No money cap applies, so nothing is ever seeded. */
  readonly counting: Limits;
  readonly rules: LimitRules;
  readonly ratio: TokenRatio;
  readonly usageAnomalies: UsageAnomalyLog;
  readonly limitProofs: LimitProofs;
  readonly retryTokens: RetryTokens;
  /** An account's IANA time zone, for figures shown by day. */
  timeZoneOf(accountId: string): string;
  /** The IANA time zone of its budget windows. */
  readonly budgetZoneOf: ZoneOf;
  /** A price with an account's mark-up; returns the same object every time. */
  priced(price: Price, markUpPpm: number): Price;
  /** Warns the operator, once per model and kind, of tools that ran upstream without a fee in the model's price. */
  warnUnpriced(model: string, kinds: readonly string[]): void;
  /** Warns the operator, once per model and tier, of an answer that stated a tier with an unknown price. */
  warnUnknownTier(model: string, tier: string): void;
}
