/** Tests how a provider's health follows from its calls, and that old calls are forgotten. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ProviderStats } from './provider-health.ts';

const MINUTE_MS = 60_000;

function rig() {
  const clock = { nowMs: 100 * MINUTE_MS };
  const stats = new ProviderStats();
  return {
    clock,
    read: () => stats.read(clock.nowMs),
    count: (isError: boolean, ttfbMs: number | null = null) => stats.note(isError, ttfbMs, clock.nowMs),
  };
}

test('a provider without calls is idle; one successful call makes it healthy', () => {
  const { read, count } = rig();
  expect(read()).toEqual({ state: 'idle', calls: 0, errors: 0, ttfbP50Ms: null });
  count(false);
  expect(read()).toMatchObject({ state: 'healthy', calls: 1, errors: 0 });
});

test('five faults in a row, nothing but faults, or half of twenty are failing; a good call ends a row', () => {
  const first = rig();
  first.count(true);
  expect(first.read().state).toBe('failing');
  first.count(false);
  expect(first.read().state).toBe('healthy');
  for (let index = 0; index < 4; index++) first.count(true);
  expect(first.read().state).toBe('healthy');
  first.count(true);
  expect(first.read()).toMatchObject({ state: 'failing', calls: 7, errors: 6 });
  first.count(false);
  expect(first.read().state).toBe('healthy');

  const second = rig();
  for (let index = 0; index < 10; index++) {
    second.count(true);
    second.count(false);
  }
  expect(second.read()).toMatchObject({ state: 'failing', calls: 20, errors: 10 });
});

test('a call counts for 15 minutes; its slot is reused', () => {
  const { clock, read, count } = rig();
  count(false);
  clock.nowMs += 14 * MINUTE_MS;
  expect(read().calls).toBe(1);
  clock.nowMs += MINUTE_MS;
  expect(read()).toMatchObject({ state: 'idle', calls: 0 });
  count(true);
  expect(read()).toMatchObject({ calls: 1, errors: 1 });
});

test('the median is within 6 % of the real one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1, max: 500_000, noNaN: true }), { minLength: 1, maxLength: 99, size: 'max' }),
      (times) => {
        const { read, count } = rig();
        for (const ms of times) count(false, ms);
        const sorted = times.toSorted((one, other) => one - other);
        const median = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
        const found = read().ttfbP50Ms ?? 0;
        expect(Math.abs(found - median)).toBeLessThanOrEqual(median * 0.06 + 1);
      },
    ),
    { seed: 1 },
  );
});
