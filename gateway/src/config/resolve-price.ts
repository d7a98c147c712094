/** Resolves the prices of models and targets in the file, and the rules between their members. */
import { parseInstantMs } from '../lib/quantity.ts';
import type { PricePeriodText, PriceText, RatesText } from './config.ts';
import type { PathStep, Report } from './file/config-problem.ts';
import type { PricePeriodShape, PriceShape } from './file/price-schema.ts';

/** Converts the price to the configuration's form; reports problems by their path below the price. */
export function resolvePrice(shape: PriceShape | undefined, report: Report): PriceText | null {
  if (shape === undefined) return null;
  if (shape === 'free') return shape;
  if (!Array.isArray(shape)) return resolvePeriod(shape, [], report);
  const beginnings = shape.map(({ from }) => (from === undefined ? null : parseInstantMs(from)));
  for (const [index, beginning] of beginnings.entries()) {
    if (beginnings.indexOf(beginning) === index) continue;
    report(beginning === null ? [index] : [index, 'from'], {
      found: beginning === null ? 'a second price without from' : 'the same start as another price',
      expected: 'a different start for each price; one price may have none',
      advice: 'Give it another from, or remove one of them.',
    });
  }
  return shape.map((period, index) => resolvePeriod(period, [index], report));
}

function resolvePeriod(shape: PricePeriodShape, path: readonly PathStep[], report: Report): PricePeriodText {
  const { tiers, from, per_1000_requests, per_unit, modifiers, ...rates } = shape;
  const period = {
    ...resolveRates(rates, path, report),
    ...(from === undefined ? {} : { from }),
    ...(per_1000_requests === undefined ? {} : { per_1000_requests }),
    ...(per_unit === undefined ? {} : { per_unit: resolveUnits(per_unit) }),
    ...(modifiers === undefined ? {} : { modifiers: resolveModifiers(modifiers) }),
  };
  if (tiers === undefined) return period;
  let below = 0;
  const resolved = tiers.map(({ above, ...tierRates }, index) => {
    if (above <= below) {
      report([...path, 'tiers', index, 'above'], {
        found: String(above),
        expected: `more than ${below}, the limit of the previous tier`,
        advice: 'Write the tiers in ascending order, each once.',
      });
    }
    below = above;
    return { above, ...resolveRates(tierRates, [...path, 'tiers', index], report) };
  });
  return { ...period, tiers: resolved };
}

type RatesShape = Omit<PricePeriodShape, 'tiers' | 'from' | 'per_1000_requests' | 'per_unit' | 'modifiers'>;

/** Omitted members are absent, not undefined. */
function resolveUnits(shape: NonNullable<PricePeriodShape['per_unit']>): NonNullable<PricePeriodText['per_unit']> {
  return Object.fromEntries(Object.entries(shape).filter(([, price]) => price !== undefined));
}

/** Omitted members are absent, not undefined. */
function resolveModifiers(
  shape: NonNullable<PricePeriodShape['modifiers']>,
): NonNullable<PricePeriodText['modifiers']> {
  return Object.fromEntries(Object.entries(shape).filter(([, words]) => words !== undefined));
}

/** Omitted members are absent, not undefined. */
function resolveRates(shape: RatesShape, path: readonly PathStep[], report: Report): RatesText {
  if (shape.cache_write !== undefined && shape.cache_write_5m !== undefined) {
    report([...path, 'cache_write'], {
      found: 'cache_write together with cache_write_5m',
      expected: 'one of the two: they mean the same',
      advice: 'Remove one.',
    });
  }
  const { input, output, ...others } = shape;
  const given = Object.entries(others).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { input, output, ...Object.fromEntries(given) };
}
