/** Serves the cost of past requests on another model. The store recomputes each; this adds up and says what is unknown. */
import { priceAt } from '../../billing/price-book.ts';
import type { BillingDeps } from '../../call/money/billing-deps.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { KeyDirectory } from '../../identity/key-directory.ts';
import type { RouteTable } from '../../routing/route.ts';
import type { WhatIfGroup, WhatIfReader } from '../../store/ports/calls/what-if.ts';
import { compareTokens, SAME_TOKENS } from '../../tokens/compare-families.ts';
import type { Reply } from '../contract/contract.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { tenantOf } from '../usage/usage.ts';
import { orRefuse, type UsageParts } from '../usage/usage-parts.ts';
import { parseRange } from '../usage/usage-range.ts';
import { chooseCalls } from './logs.ts';
import { refuseWords } from './search-content.ts';

export interface WhatIfParts extends Pick<UsageParts, 'labelsOf' | 'nowMs'> {
  readonly usage: WhatIfReader;
  /** The routes in force. */
  routes(): RouteTable;
  readonly priced: BillingDeps['priced'];
  readonly directory: Pick<KeyDirectory, 'accounts'>;
}

const DAY_MS = 86_400_000;
/** One reply; the caller continues from its `next`. */
const REPLY_MS_MAX = 1_000;

export function whatIfHandlers(parts: WhatIfParts) {
  return {
    'GET /accounts/{account}/what-if': async ({ tenancy, query }) => {
      const nowMs = parts.nowMs();
      const { from = new Date(nowMs - DAY_MS).toISOString(), to = new Date(nowMs + 1).toISOString() } = query;
      const [fromMs, toMs] = parseRange(from, to);
      const { upstream, price } = findPrice(parts, tenancy.account, query.other_model, nowMs);
      const { choice, words } = await chooseCalls(parts, tenancy, query);
      refuseWords(words, 'costs are not computed by text');
      const found = await orRefuse(
        parts.usage.readWhatIf({
          tenant: tenantOf(tenancy),
          ...choice,
          fromMs,
          toMs,
          beforeId: query.before ?? null,
          priceVersion: price.version,
          timeMsMax: REPLY_MS_MAX,
        }),
      );
      const { groups, tiered, unpriced, otherFormats, next } = found;
      return {
        model: query.other_model,
        provider: upstream.provider,
        price_version: price.version,
        ...sumsOf(groups),
        ...rangeOf(groups, upstream.model),
        then_uncached_nano_usd: total(groups, 'otherUncached').toString(),
        then_reasoning_nano_usd: total(groups, 'otherReasoning').toString(),
        reasoning_tokens: groups.reduce((sum, group) => sum + group.reasoningTokens, 0),
        tiered,
        unpriced,
        other_formats: otherFormats,
        by_model: [...Map.groupBy(groups, ({ model }) => model)]
          .map(([model, own]) => ({ model, ...sumsOf(own) }))
          .sort(byCost),
        by_key: [...Map.groupBy(groups, ({ keyId }) => keyId)]
          .map(([key, own]) => ({ key, name: own[0]?.keyName ?? key, ...sumsOf(own) }))
          .sort(byCost),
        counted_from: next === null ? null : new Date(next.countedFromMs).toISOString(),
        next: next?.id ?? null,
      };
    },
  } satisfies Partial<Handlers>;
}

/** The current price of a model's first target, with the account's mark-up. @throws ConsoleFailure where it has none */
function findPrice({ routes, priced, directory }: WhatIfParts, account: string, model: string, nowMs: number) {
  const route = routes().get(model);
  if (route === undefined) {
    throw new ConsoleFailure(
      'invalid',
      `other_model: found ${JSON.stringify(model)}, expected a model of this gateway`,
      {
        member: 'other_model',
        page: '/app/models',
      },
    );
  }
  const [target] = route.targets;
  const price = priceAt(target.prices, nowMs);
  if (price === null) {
    throw new ConsoleFailure('conflict', `the model ${model} has no price; set one on the Models page`, {
      member: 'other_model',
      page: '/app/models',
    });
  }
  return { upstream: target.upstream, price: priced(price, directory.accounts.get(account)?.markUpPpm ?? 0) };
}

type Amount = 'now' | 'other' | 'otherUncached' | 'otherReasoning';

function total(groups: readonly WhatIfGroup[], amount: Amount): bigint {
  return groups.reduce((sum, group) => sum + group[amount], 0n);
}

function sumsOf(groups: readonly WhatIfGroup[]) {
  return {
    requests: groups.reduce((sum, { requests }) => sum + requests, 0),
    now_nano_usd: total(groups, 'now').toString(),
    then_nano_usd: total(groups, 'other').toString(),
  };
}

function byCost(one: { readonly now_nano_usd: string }, other: { readonly now_nano_usd: string }): number {
  const difference = BigInt(other.now_nano_usd) - BigInt(one.now_nano_usd);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

const PER_UNIT = 10_000;

type Range = Pick<Reply<'GET /accounts/{account}/what-if'>, 'then_low_nano_usd' | 'then_high_nano_usd'>;

/** Costs are in proportion to tokens, except for tiers and fees, which an estimate leaves out. */
function rangeOf(groups: readonly WhatIfGroup[], other: string): Range {
  let [low, high] = [0n, 0n];
  for (const { served, model, other: cost } of groups) {
    const before = served ?? model;
    const ratio = before === null ? SAME_TOKENS : compareTokens(before, other);
    low += (cost * BigInt(Math.round(ratio.low * PER_UNIT))) / BigInt(PER_UNIT);
    high += (cost * BigInt(Math.round(ratio.high * PER_UNIT))) / BigInt(PER_UNIT);
  }
  return { then_low_nano_usd: low.toString(), then_high_nano_usd: high.toString() };
}
