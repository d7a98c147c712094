/** Owns what becomes of prices that were set in the console: one period for each. Does not know which of them are in force. */
import type { StoredPrice } from '../store/provider-port.ts';
import { parsePriceFrom } from './config-price.ts';
import { FREE_PRICE, type Price } from './price.ts';
import type { PricePeriod } from './price-book.ts';

/**
 * The price; its version begins with `console` and the moment from which it is in force, save where it is free.
 * @throws PriceError naming the member that is no usable number.
 */
export function parseSetPrice({ rates, fromMs }: Pick<StoredPrice, 'rates' | 'fromMs'>): Price {
  return rates === null ? FREE_PRICE : parsePriceFrom(`console:${new Date(fromMs).toISOString()}`, rates);
}

/** The periods by model, each list in the order in which they were set. */
export function groupSetPrices(prices: readonly StoredPrice[]): ReadonlyMap<string, readonly PricePeriod[]> {
  const groups = new Map<string, PricePeriod[]>();
  for (const price of prices) {
    const group = groups.get(price.model) ?? [];
    groups.set(price.model, group);
    group.push({ fromMs: price.fromMs, price: parseSetPrice(price) });
  }
  return groups;
}
