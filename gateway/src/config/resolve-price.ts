/** Owns the rules between the members of a model's price. Chooses no price. */
import { parseInstantMs } from '../lib/instant.ts';
import type { PricePeriodText, PriceText, RatesText } from './config.ts';
import type { PathStep } from './config-problem.ts';
import type { PricePeriodShape, PriceShape } from './price-schema.ts';
import type { Report } from './resolve-providers.ts';

/** The price as the configuration holds it; what does not fit is reported by its path below the price. */
export function resolvePrice(shape: PriceShape | undefined, report: Report): PriceText | null {
  if (shape === undefined) return null;
  if (shape === 'free') return shape;
  if (!Array.isArray(shape)) return resolvePeriod(shape, [], report);
  const beginnings = shape.map(({ from }) => (from === undefined ? null : parseInstantMs(from)));
  for (const [index, beginning] of beginnings.entries()) {
    if (beginnings.indexOf(beginning) === index) continue;
    report(beginning === null ? [index] : [index, 'from'], {
      found: beginning === null ? 'a second price without from' : 'the moment at which another price begins',
      expected: 'a beginning of its own for each price of the list, save one',
      advice: 'Give it another from, or remove one of the two.',
    });
  }
  return shape.map((period, index) => resolvePeriod(period, [index], report));
}

function resolvePeriod(shape: PricePeriodShape, path: readonly PathStep[], report: Report): PricePeriodText {
  const { tiers, from, per_1000_requests, modifiers, ...rates } = shape;
  const period = {
    ...resolveRates(rates, path, report),
    ...(from === undefined ? {} : { from }),
    ...(per_1000_requests === undefined ? {} : { per_1000_requests }),
    ...(modifiers === undefined ? {} : { modifiers: resolveModifiers(modifiers) }),
  };
  if (tiers === undefined) return period;
  let below = 0;
  const resolved = tiers.map(({ above, ...tierRates }, index) => {
    if (above <= below) {
      report([...path, 'tiers', index, 'above'], {
        found: String(above),
        expected: `more than the ${below} of the tier before it`,
        advice: 'Write the tiers in ascending order, each once.',
      });
    }
    below = above;
    return { above, ...resolveRates(tierRates, [...path, 'tiers', index], report) };
  });
  return { ...period, tiers: resolved };
}

type RatesShape = Omit<PricePeriodShape, 'tiers' | 'from' | 'per_1000_requests' | 'modifiers'>;

/** Members that were left out are absent, not undefined. */
function resolveModifiers(
  shape: NonNullable<PricePeriodShape['modifiers']>,
): NonNullable<PricePeriodText['modifiers']> {
  return Object.fromEntries(Object.entries(shape).filter(([, words]) => words !== undefined));
}

/** Members that were left out are absent, not undefined. */
function resolveRates(shape: RatesShape, path: readonly PathStep[], report: Report): RatesText {
  if (shape.cache_write !== undefined && shape.cache_write_5m !== undefined) {
    report([...path, 'cache_write'], {
      found: 'cache_write beside cache_write_5m',
      expected: 'one of the two: they mean the same',
      advice: 'Remove one.',
    });
  }
  const { input, output, ...others } = shape;
  const given = Object.entries(others).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { input, output, ...Object.fromEntries(given) };
}
