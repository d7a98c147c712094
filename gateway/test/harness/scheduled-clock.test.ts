/** Tests that the clock measures waiting but not time in which the process could not run. */
import { expect, test } from 'bun:test';
import { startScheduledClock } from './scheduled-clock.ts';

test('time that a timer waits is measured', async () => {
  // Not in one sleep: a busy machine may run this process late at each look of the clock.
  let measuredMs = 0;
  for (let sleeps = 0; measuredMs < 100 && sleeps < 20; sleeps += 1) {
    const scheduledMs = startScheduledClock();
    await Bun.sleep(60);
    measuredMs += scheduledMs();
  }
  expect(measuredMs).toBeGreaterThanOrEqual(100);
});

test('time in which the process could not run is left out', async () => {
  const scheduledMs = startScheduledClock();
  const startMs = performance.now();
  Bun.sleepSync(300);
  await Bun.sleep(1);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(300);
  expect(scheduledMs()).toBeLessThan(100);
});
