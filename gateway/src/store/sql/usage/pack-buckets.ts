/**
 * Owns the form in which sums over buckets go from one thread to another: as numbers in one piece of memory. Objects take the
 * thread that receives them ten times as long.
 */
import type { UsageAnswer, UsageBuckets, UsageSums } from '../../usage-port.ts';
import { MONEY_UNIT, moneyOf } from './tally.ts';

/** So many numbers for each bucket, in the order of NAMES, then each of MONEY in units and what is left. NaN: there is none. */
export type PackedBuckets = Float64Array;

/** An answer whose buckets are packed. */
export interface PackedAnswer extends Omit<UsageAnswer, 'groups' | 'others' | 'totals'> {
  readonly groups: readonly (Omit<UsageAnswer['groups'][number], 'buckets'> & {
    readonly buckets: PackedBuckets | null;
  })[];
  readonly others: PackedBuckets | null;
  readonly totals: PackedBuckets;
}

const NAMES = [
  'requests',
  'clientErrors',
  'serverErrors',
  'cancelled',
  'unpriced',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'latencyP50Ms',
  'latencyP95Ms',
  'ttfbP50Ms',
  'ttfbP95Ms',
] as const satisfies readonly (keyof UsageSums)[];
const MONEY = ['cost', 'cacheSavings'] as const satisfies readonly (keyof UsageSums)[];
const UNIT = BigInt(MONEY_UNIT);
const LENGTH = NAMES.length + 2 * MONEY.length;

export function packAnswer({ groups, others, totals, ...sums }: UsageAnswer): PackedAnswer {
  return {
    ...sums,
    groups: groups.map(({ buckets, ...group }) => ({ ...group, buckets: buckets === null ? null : pack(buckets) })),
    others: others === null ? null : pack(others),
    totals: pack(totals),
  };
}

export function openAnswer({ groups, others, totals, ...sums }: PackedAnswer): UsageAnswer {
  return {
    ...sums,
    groups: groups.map(({ buckets, ...group }) => ({ ...group, buckets: buckets === null ? null : open(buckets) })),
    others: others === null ? null : open(others),
    totals: open(totals),
  };
}

function pack(buckets: UsageBuckets): PackedBuckets {
  const packed = new Float64Array(buckets.length * LENGTH);
  for (const [index, sums] of buckets.entries()) {
    const numbers = NAMES.map((name) => sums?.[name] ?? Number.NaN);
    const money = MONEY.flatMap((name) => {
      const nanoUsd = sums?.[name] ?? 0n;
      return [Number(nanoUsd / UNIT), Number(nanoUsd % UNIT)];
    });
    packed.set([...numbers, ...money], index * LENGTH);
  }
  return packed;
}

function open(packed: PackedBuckets): UsageBuckets {
  return Array.from({ length: packed.length / LENGTH }, (_, index) => {
    const at = (name: (typeof NAMES)[number]) => packed[index * LENGTH + NAMES.indexOf(name)] ?? 0;
    if (Number.isNaN(at('requests'))) return null;
    const timeAt = (name: (typeof NAMES)[number]) => (Number.isNaN(at(name)) ? null : at(name));
    const moneyAt = (name: (typeof MONEY)[number]) => {
      const first = index * LENGTH + NAMES.length + 2 * MONEY.indexOf(name);
      return moneyOf(packed[first] ?? 0, packed[first + 1] ?? 0);
    };
    return {
      requests: at('requests'),
      clientErrors: at('clientErrors'),
      serverErrors: at('serverErrors'),
      cancelled: at('cancelled'),
      unpriced: at('unpriced'),
      input: at('input'),
      cache_read: at('cache_read'),
      cache_write_5m: at('cache_write_5m'),
      cache_write_1h: at('cache_write_1h'),
      output: at('output'),
      reasoning: at('reasoning'),
      cost: moneyAt('cost'),
      cacheSavings: moneyAt('cacheSavings'),
      latencyP50Ms: timeAt('latencyP50Ms'),
      latencyP95Ms: timeAt('latencyP95Ms'),
      ttfbP50Ms: timeAt('ttfbP50Ms'),
      ttfbP95Ms: timeAt('ttfbP95Ms'),
    };
  });
}
