/** Owns what a price that was set leaves out that the price before it has: a price replaces another whole. Fills nothing. */
import type { Price } from '../billing/price.ts';
import type { Rates } from '../billing/rates.ts';
import { MEDIA_PARTS } from '../generation/usage-apart.ts';
import type { StoredRates } from '../store/provider-port.ts';

/** Each rate that need not be given, and as what it costs then. */
const COSTS_AS = {
  cache_read: 'input',
  cache_write_5m: 'input',
  cache_write_1h: 'cache_write_5m',
  reasoning: 'output',
  ...MEDIA_PARTS,
} as const satisfies { readonly [Rate in keyof Rates]?: keyof Rates };

/** Those rates, in the order in which a price is written. */
export const OPTIONAL_RATES = Object.keys(COSTS_AS) as readonly (keyof typeof COSTS_AS)[];

/**
 * Members by their path, `per_1000_requests.web_search`: rates that were apart, tiers by their bound, fees. None where the
 * price before is unknown, or one of the two is free of everything.
 */
export function leftOut(before: Price | null, rates: StoredRates | null): string[] {
  if (before === null || rates === null) return [];
  const { per_1000_requests: fees = {}, tiers = [] } = rates;
  const given = new Set(tiers.map(({ above }) => above));
  return [
    ...OPTIONAL_RATES.filter((rate) => rates[rate] === undefined && before[rate] !== before[COSTS_AS[rate]]),
    ...before.tiers.flatMap(({ inputTokensAbove: above }) => (given.has(above) ? [] : [`tiers.${above}`])),
    ...[...(before.fees ?? [])].flatMap(([kind]) => (Object.hasOwn(fees, kind) ? [] : [`per_1000_requests.${kind}`])),
  ];
}
