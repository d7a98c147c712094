/** Tests latency-slots.ts: percentiles are at most 5% off. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { addToSlot, percentilesMs, type Slots, slotOf } from './latency-slots.ts';

function slotsOf(durations: readonly number[]): Slots {
  const slots: Slots = [];
  for (const duration of durations) addToSlot(slots, slotOf(duration), 1);
  return slots;
}

const durations = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 4_000_000 }), fc.double({ min: 1, max: 900, noNaN: true })),
  {
    minLength: 1,
    maxLength: 300,
    size: 'max',
  },
);

test('a percentile is at most 5% off the duration at its rank', () => {
  fc.assert(
    fc.property(durations, fc.constantFrom(0.01, 0.5, 0.95, 1), (list, part) => {
      const exact = list.toSorted((one, other) => one - other)[Math.max(1, Math.ceil(list.length * part)) - 1] ?? 0;
      const told = percentilesMs(slotsOf(list), [part])[0] ?? 0;
      // The last hundredth is rounding.
      expect(Math.abs(told - exact)).toBeLessThanOrEqual(exact * 0.05 + 0.005);
    }),
  );
});

test('no calls have no percentile; less than a millisecond counts as half', () => {
  expect(percentilesMs([], [0.5])).toEqual([null]);
  expect(percentilesMs(slotsOf([0, 0.2, 8]), [0.5, 0.6, 1])).toEqual([0.5, 0.5, 7.76]);
});
