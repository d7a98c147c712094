/** Tests that the clock measures waiting but not time in which the process could not run. */
import { expect, test } from 'bun:test';
import { startScheduledClock } from './scheduled-clock.ts';

test('time that a timer waits is measured', async () => {
  const scheduledMs = startScheduledClock();
  await Bun.sleep(60);
  expect(scheduledMs()).toBeGreaterThan(20);
});

test('time in which the process could not run is left out', async () => {
  const scheduledMs = startScheduledClock();
  const startMs = performance.now();
  Bun.sleepSync(300);
  await Bun.sleep(1);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(300);
  expect(scheduledMs()).toBeLessThan(100);
});
