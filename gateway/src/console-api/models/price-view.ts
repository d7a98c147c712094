/** Renders a model's prices and their source for the console. */
import type { z } from 'zod';
import { formatUsdPerMillion, formatUsdPerThousand } from '../../billing/money.ts';
import { type Fees, PRICE_MEMBERS, type Price, type PriceTier, type Rates } from '../../billing/price.ts';

import type { PriceBook, PricePeriod } from '../../billing/price-book.ts';

import { MEDIA_COUNTERS, MEDIA_PARTS } from '../../generation/usage.ts';
import type { priceView } from '../contract/models.ts';

export type PriceView = z.output<typeof priceView>;

/** Every version of a model's price, newest first; unknown prices are omitted. `fromFile`: the file sets the price. */
export function renderPrices(book: PriceBook, fromFile: boolean): readonly PriceView[] {
  return book.flatMap((period) => renderPeriod(period, fromFile) ?? []).reverse();
}

/** Null: the price of the period is unknown. */
export function renderPeriod({ fromMs, price }: PricePeriod, fromFile: boolean): PriceView | null {
  if (price === null) return null;
  return {
    version: price.version,
    from: Number.isFinite(fromMs) ? new Date(fromMs).toISOString() : null,
    free: isFree(price),
    ...renderRates(price),
    ...(price.fees === null || price.fees.size === 0 ? {} : { per_1000_requests: renderFees(price.fees) }),
    ...(price.tiers.length === 0 ? {} : { tiers: price.tiers.map(renderTier) }),
    source: sourceOf(price, fromMs, fromFile),
  };
}

function renderRates(rates: Rates) {
  const extras = MEDIA_COUNTERS.filter((counter) => rates[counter] !== rates[MEDIA_PARTS[counter]]);
  return {
    input: formatUsdPerMillion(rates.input),
    output: formatUsdPerMillion(rates.output),
    cache_read: formatUsdPerMillion(rates.cache_read),
    cache_write_5m: formatUsdPerMillion(rates.cache_write_5m),
    cache_write_1h: formatUsdPerMillion(rates.cache_write_1h),
    reasoning: formatUsdPerMillion(rates.reasoning),
    ...Object.fromEntries(extras.map((counter) => [counter, formatUsdPerMillion(rates[counter])])),
  };
}

function renderTier({ inputTokensAbove, rates }: PriceTier) {
  return { above: inputTokensAbove, ...renderRates(rates) };
}

function renderFees(fees: Fees) {
  return Object.fromEntries([...fees].map(([kind, fee]) => [kind, formatUsdPerThousand(fee)]));
}

function isFree(price: Price): boolean {
  const isNothing = [...PRICE_MEMBERS, ...MEDIA_COUNTERS].every((member) => price[member] === 0n);
  return isNothing && price.tiers.length === 0 && (price.fees?.size ?? 0) === 0;
}

/** Read from the prefix of the version. `free` is ambiguous: the file, the console and the demo all use it. */
function sourceOf({ version }: Price, fromMs: number, fromFile: boolean): PriceView['source'] {
  if (version.startsWith('console:')) return 'console';
  if (/^config[:@]/.test(version)) return 'file';
  if (!version.startsWith('free@')) return 'catalogue';
  return fromFile ? 'file' : Number.isFinite(fromMs) ? 'console' : 'catalogue';
}
