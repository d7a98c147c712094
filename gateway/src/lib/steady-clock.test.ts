/** Tests that the steady clock advances, and that changes of the system clock do not affect it. */
import { afterAll, expect, spyOn, test } from 'bun:test';
import { steadyNowMs } from './deadlines.ts';

const HOUR_MS = 3_600_000;
const trueNow = Date.now;
const clock = spyOn(Date, 'now');
afterAll(() => clock.mockRestore());

test('it shows the time in whole milliseconds', () => {
  clock.mockImplementation(trueNow);
  expect(Number.isInteger(steadyNowMs())).toBe(true);
  expect(Math.abs(steadyNowMs() - trueNow())).toBeLessThan(60_000);
});

test.each([2 * HOUR_MS, -2 * HOUR_MS, 24 * HOUR_MS])('a step by %i ms does not move it', (stepMs) => {
  const before = steadyNowMs();
  clock.mockImplementation(() => trueNow() + stepMs);
  const after = steadyNowMs();
  expect(after).toBeGreaterThanOrEqual(before);
  expect(after - before).toBeLessThan(60_000);
});
