/**
 * Tests blocks against adding one by one: however records are divided among blocks, merged and packed, their sums are
 * the same.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SumRows } from './gather-additions.ts';
import { SLOT_MAX, type Slots } from './latency-slots.ts';
import { addBlockSlots, mergeBlocks, openLatencies, openSums, packBlock, type WholeBlock } from './sum-block.ts';
import {
  addColumns,
  COST_AT,
  MONEY_UNIT,
  moneyOf,
  newTally,
  type RecordShare,
  rankedOf,
  TALLY_LENGTH,
} from './tally.ts';

const slot = fc.option(fc.integer({ min: 0, max: SLOT_MAX }));
const share = fc.record({
  series: fc.integer({ min: 1, max: 12 }),
  count: fc.integer({ min: 0, max: 2 ** 40 }),
  cost: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  latencySlot: slot,
  ttfbSlot: slot,
});
type Share = typeof share extends fc.Arbitrary<infer One> ? One : never;

function shareOf({ count, cost, latencySlot, ttfbSlot }: Share): RecordShare {
  const sums = newTally();
  sums[0] = count;
  sums[COST_AT] = Number(cost / BigInt(MONEY_UNIT));
  sums[COST_AT + 1] = Number(cost % BigInt(MONEY_UNIT));
  return { sums, latencySlot, ttfbSlot };
}

function blockOf(shares: readonly Share[]): WholeBlock {
  const rows = new SumRows();
  for (const one of shares) rows.add(one.series, shareOf(one));
  const { sums, latencies } = packBlock(rows.toBlock());
  return { sums: openSums(sums), latencies: openLatencies(latencies) };
}

/** Series → calls, cost and histograms, as a block has them. */
function read({ sums: { series, sums }, latencies }: WholeBlock) {
  return [...series].map((id, nth) => {
    const tally = newTally();
    addColumns(tally, sums, nth);
    const histograms = [latencies.latency, latencies.ttfb].map((block) => {
      const slots: Slots = [];
      addBlockSlots(slots, block, nth);
      return [...slots.entries()].filter(([, count]) => count > 0);
    });
    const { units, left, requests } = rankedOf(tally, 'cost');
    return { id, requests, cost: moneyOf(units, left), histograms };
  });
}

/** The same, computed from the shares one by one. */
function plain(shares: readonly Share[]) {
  return [...Map.groupBy(shares, ({ series }) => series)]
    .sort(([one], [other]) => one - other)
    .map(([id, own]) => ({
      id,
      requests: own.reduce((sum, { count }) => sum + count, 0),
      cost: own.reduce((sum, { cost }) => sum + cost, 0n),
      histograms: (['latencySlot', 'ttfbSlot'] as const).map((which) =>
        [
          ...Map.groupBy(
            own.flatMap((one) => one[which] ?? []),
            (found) => found,
          ),
        ]
          .map(([found, all]) => [found, all.length] as [number, number])
          .sort(([one], [other]) => one - other),
      ),
    }));
}

test('blocks add up to their records', () => {
  fc.assert(
    fc.property(fc.array(fc.array(share, { maxLength: 30, size: 'max' }), { minLength: 1, maxLength: 5 }), (lists) => {
      expect(read(mergeBlocks(lists.map(blockOf)))).toEqual(plain(lists.flat()));
    }),
  );
});

test('the remainder of money stays below a unit, so that its column is narrow', () => {
  const most: Share = { series: 1, count: 1, cost: BigInt(MONEY_UNIT) - 1n, latencySlot: null, ttfbSlot: null };
  const { sums } = mergeBlocks([blockOf([most, most]), blockOf([most])]).sums;
  expect([sums.length, sums[COST_AT]?.[0], sums[COST_AT + 1]?.[0]]).toEqual([TALLY_LENGTH, 2, MONEY_UNIT - 3]);
});
