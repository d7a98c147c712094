/** Creates the billing dependencies of calls for tests: limits in memory, and a ledger that logs its operations. */
import { createMoneySeeds, type MoneySource } from '../../admission/admission.ts';
import { createLimitRules } from '../../admission/limit-rules.ts';
import { withMarkUp } from '../../billing/price.ts';
import { createMemoryLimits } from '../../store/memory/limits.ts';
import type { Caps, Subject } from '../../store/ports/limits.ts';
import type { BillingDeps } from '../money/billing-deps.ts';
import { LimitProofs } from '../money/limit-proofs.ts';
import { TokenRatio, UsageAnomalyLog } from '../money/usage-checks.ts';
import { createRetryTokens } from '../plan/retry-tokens.ts';
import { createNotedLedger } from './held-money.ts';

const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };

/** Limits by these rules in memory, a ledger that logs its operations, and what else the money of a call needs. */
export function openDesk(
  rules: readonly (readonly [Subject, Partial<Caps>])[] = [],
  source: Partial<MoneySource> = {},
) {
  const store = createMemoryLimits({ leaseMs: 3_600_000, onBudgetReached: () => undefined });
  const ledger = createNotedLedger();
  const seeds = createMoneySeeds(store, { readSettled: async () => 0n, readAvailable: async () => 0n, ...source });
  const caps = rules.map(([subject, some]) => ({ subject, caps: { ...NO_CAPS, ...some } }));
  const billing: BillingDeps = {
    ledger,
    limits: { store, seeds },
    counting: { store, seeds },
    rules: createLimitRules(caps),
    ratio: new TokenRatio(),
    usageAnomalies: new UsageAnomalyLog(() => undefined),
    limitProofs: new LimitProofs(() => undefined),
    timeZoneOf: () => 'UTC',
    budgetZoneOf: () => 'UTC',
    priced: withMarkUp,
    warnUnpriced: () => undefined,
    warnUnknownTier: () => undefined,
    retryTokens: createRetryTokens(),
  };
  return { billing, ledger, store };
}

export const budgetOf = (amount: bigint): Partial<Caps> => ({ budget: { window: 'total', amount } });
