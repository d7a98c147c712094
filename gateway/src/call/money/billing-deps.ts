/** Owns what the line is given for money and limits, joined by the composition root. Holds no logic. */
import type { Limits } from '../../admission/admission.ts';
import type { LimitRules, ZoneOf } from '../../admission/limit-rules.ts';
import type { Price } from '../../billing/price.ts';
import type { Ledger } from '../../store/ports/ledger.ts';
import type { RetryTokens } from '../plan/retry-tokens.ts';
import type { LimitProofs } from './limit-proofs.ts';
import type { LearntRatio } from './token-ratio.ts';
import type { OddUsageLog } from './usage-anomalies.ts';

export interface MoneyDesk {
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** Of counts of tokens, in buckets of their own. No money binds them: nothing is ever seeded. */
  readonly counting: Limits;
  readonly rules: LimitRules;
  readonly ratio: LearntRatio;
  readonly oddUsage: OddUsageLog;
  readonly limitProofs: LimitProofs;
  readonly retryTokens: RetryTokens;
  /** An account's IANA zone, for what is shown by days. */
  timeZoneOf(accountId: string): string;
  /** The IANA zone of its budget windows. */
  readonly budgetZoneOf: ZoneOf;
  /** A price with an account's mark-up; the same object every time. */
  priced(price: Price, markUpPpm: number): Price;
  /** Tools ran upstream, of kinds for which the model's price has no fee: the operator is told, once for each. */
  tellUnpriced(model: string, kinds: readonly string[]): void;
  /** An answer stated a tier whose price is not known: the operator is told, once for each. */
  tellUnknownTier(model: string, tier: string): void;
}
