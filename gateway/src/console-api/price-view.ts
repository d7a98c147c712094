/** Owns how the console shows a model's prices, and where each comes from. */
import type { z } from 'zod';
import { formatUsdPerMillion } from '../billing/money.ts';
import type { Price } from '../billing/price.ts';
import type { PriceBook, PricePeriod } from '../billing/price-book.ts';
import { PRICE_MEMBERS } from '../billing/rates.ts';
import type { priceView } from './contract/models.ts';

export type PriceView = z.output<typeof priceView>;

/** Every version of a model's price, the newest first; one that nobody knows is left out. `fromFile`: the file sets the price. */
export function renderPrices(book: PriceBook, fromFile: boolean): readonly PriceView[] {
  return book.flatMap((period) => renderPeriod(period, fromFile) ?? []).reverse();
}

/** Null: nobody knows the price of the period. */
export function renderPeriod({ fromMs, price }: PricePeriod, fromFile: boolean): PriceView | null {
  if (price === null) return null;
  return {
    version: price.version,
    from: Number.isFinite(fromMs) ? new Date(fromMs).toISOString() : null,
    free: isFree(price),
    input: formatUsdPerMillion(price.input),
    output: formatUsdPerMillion(price.output),
    cache_read: formatUsdPerMillion(price.cache_read),
    cache_write_5m: formatUsdPerMillion(price.cache_write_5m),
    cache_write_1h: formatUsdPerMillion(price.cache_write_1h),
    reasoning: formatUsdPerMillion(price.reasoning),
    source: sourceOf(price, fromMs, fromFile),
  };
}

function isFree(price: Price): boolean {
  return price.tiers.length === 0 && PRICE_MEMBERS.every((member) => price[member] === 0n);
}

/** The word that a version opens with; `free` stands for a word that file and console have, and for what the demo costs. */
function sourceOf({ version }: Price, fromMs: number, fromFile: boolean): PriceView['source'] {
  if (version.startsWith('console:')) return 'console';
  if (/^config[:@]/.test(version)) return 'file';
  if (!version.startsWith('free@')) return 'catalogue';
  return fromFile ? 'file' : Number.isFinite(fromMs) ? 'console' : 'catalogue';
}
