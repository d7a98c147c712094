/** Tests that every nano-dollar of a hold and of a cost is accounted for, and that a posting never exceeds its hold. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { missingFromHold, settleHold, splitCost } from './reserve.ts';

describe('settleHold', () => {
  test.each([
    // held, cost, extensible → extension, posted, released, absorbed
    [100n, 40n, 0n, [0n, 40n, 60n, 0n]],
    [100n, 100n, 0n, [0n, 100n, 0n, 0n]],
    [100n, 0n, null, [0n, 0n, 100n, 0n]],
    [100n, 130n, null, [30n, 130n, 0n, 0n]],
    [100n, 130n, 30n, [30n, 130n, 0n, 0n]],
    [100n, 130n, 500n, [30n, 130n, 0n, 0n]],
    [100n, 130n, 12n, [12n, 112n, 0n, 18n]],
    [100n, 130n, 0n, [0n, 100n, 0n, 30n]],
    [0n, 0n, null, [0n, 0n, 0n, 0n]],
  ])('of %p held, a cost of %p and %p to extend by', (held, cost, extensible, split) => {
    const { extension, posted, released, writtenOff } = settleHold({ held, cost, extensible });
    expect([extension, posted, released, writtenOff]).toEqual(split);
  });

  test('keeps its sums whatever the amounts are', () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(amount, amount, fc.option(amount), (held, cost, extensible) => {
        const split = settleHold({ held, cost, extensible });
        expect(split.posted + split.writtenOff).toBe(cost);
        expect(split.posted + split.released).toBe(held + split.extension);
        for (const part of Object.values(split)) expect(part).toBeGreaterThanOrEqual(0n);
        if (extensible !== null) expect(split.extension).toBeLessThanOrEqual(extensible);
        expect(split.extension).toBeLessThanOrEqual(missingFromHold(held, cost));
        if (split.writtenOff > 0n) expect(split.extension).toBe(extensible ?? -1n);
      }),
    );
  });

  test('returns the whole hold if the operator pays the cost', () => {
    expect(splitCost(100n, 130n)).toEqual({ extension: 0n, posted: 0n, released: 100n, writtenOff: 130n });
  });

  test.each([
    { held: -1n, cost: 0n, extensible: null },
    { held: 0n, cost: -1n, extensible: null },
    { held: 0n, cost: 0n, extensible: -1n },
  ])('refuses an amount below 0: %p', (ended) => {
    expect(() => settleHold(ended)).toThrow('expected amounts of 0 or more');
  });
});
