/** Owns what becomes of prices that were set in the console: one period for each. Does not know which of them are in force. */
import type { StoredPrice } from '../store/provider-port.ts';
import { parsePriceFrom } from './config-price.ts';
import { fillPrice, type Price } from './price.ts';
import type { PricePeriod } from './price-book.ts';

/**
 * The price; its version begins with `console` and the moment from which it is in force.
 * @throws PriceError naming the member that is no usable number.
 */
export function parseSetPrice({ rates, fromMs }: Pick<StoredPrice, 'rates' | 'fromMs'>): Price {
  const origin = `console:${new Date(fromMs).toISOString()}`;
  return rates === null ? fillPrice({ input: 0n, output: 0n }, origin) : parsePriceFrom(origin, rates);
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
