/** Tests the top groups of many against sorting all of them exactly. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { MONEY_UNIT, moneyOf } from '../rollup/tally.ts';
import { GroupRanks } from './rank-callers.ts';

const sum = fc.record({
  units: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 33 })),
  left: fc.oneof(fc.constant(0), fc.integer({ min: 1 - MONEY_UNIT, max: MONEY_UNIT - 1 })),
  requests: fc.integer({ min: 1, max: 3 }),
});
const added = fc.array(fc.record({ group: fc.integer({ min: 1, max: 40 }), sum }), { maxLength: 120, size: 'max' });

test('contains the first groups and all that equal the last of them', () => {
  fc.assert(
    fc.property(added, fc.integer({ min: 1, max: 12 }), (additions, count) => {
      const ranks = new GroupRanks('cost');
      for (const { group, sum } of additions) ranks.add(group, sum);
      const exact = [...Map.groupBy(additions, ({ group }) => group)]
        .map(([group, own]) => ({
          group,
          cost: own.reduce((all, { sum: { units, left } }) => all + moneyOf(units, left), 0n),
          requests: own.reduce((all, { sum: { requests } }) => all + requests, 0),
        }))
        .sort((one, other) =>
          one.cost === other.cost ? other.requests - one.requests : one.cost > other.cost ? -1 : 1,
        );
      const last = exact[count - 1];
      const among = exact.filter(
        ({ cost, requests }) =>
          last === undefined || cost > last.cost || (cost === last.cost && requests >= last.requests),
      );
      const found = ranks
        .first(count)
        .map(([group, { units, left, requests }]) => ({ group, cost: moneyOf(units, left), requests }));
      const byGroup = (one: { group: number }, other: { group: number }) => one.group - other.group;
      expect(found.toSorted(byGroup)).toEqual(among.toSorted(byGroup));
      expect(ranks.size).toBe(exact.length);
    }),
  );
});
