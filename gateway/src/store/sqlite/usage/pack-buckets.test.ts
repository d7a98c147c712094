/** Tests that sums over buckets are unpacked as they were packed. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UsageSums } from '../../ports/usage.ts';
import { openAnswer, packAnswer } from './gather-usage.ts';

const count = fc.nat({ max: 2 ** 40 });
const money = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 70n });
const time = fc.option(fc.integer({ min: 1, max: 4_000_000 }).map((hundredths) => hundredths / 100));
const sums: fc.Arbitrary<UsageSums> = fc.record({
  requests: count,
  clientErrors: count,
  serverErrors: count,
  cancelled: count,
  unpriced: count,
  input: count,
  cache_read: count,
  cache_write_5m: count,
  cache_write_1h: count,
  output: count,
  reasoning: count,
  cost: money,
  cacheSavings: money,
  latencyP50Ms: time,
  latencyP95Ms: time,
  ttfbP50Ms: time,
  ttfbP95Ms: time,
});
const buckets = fc.array(fc.option(sums), { maxLength: 5 });

test('unpacking restores what was packed', () => {
  fc.assert(
    fc.property(
      fc.record({
        groups: fc.array(fc.record({ values: fc.array(fc.option(fc.string())), sums, buckets: fc.option(buckets) })),
        rest: fc.option(sums),
        others: fc.option(buckets),
        total: sums,
        totals: buckets,
      }),
      (answer) => {
        expect(openAnswer(structuredClone(packAnswer(answer)))).toEqual(answer);
      },
    ),
    { numRuns: 60 },
  );
});
