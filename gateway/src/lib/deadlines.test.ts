/** Tests what happens after a process did not run for a while, or its machine was suspended. */
import { expect, spyOn, test } from 'bun:test';
import { eventually } from '../../test/harness/eventually.ts';
import { UNWATCHED, unwatchDeadline, watchDeadline, watchSuspensions } from './deadlines.ts';

/** Longer than a timer is late in a process that runs. */
const PAUSE_MS = 1_500;

function startDeadline(dueInMs: number) {
  const { promise: due, resolve } = Promise.withResolvers<string>();
  const deadline = {
    dueMs: performance.now() + dueInMs,
    slot: UNWATCHED,
    onDue() {
      unwatchDeadline(deadline);
      resolve('due');
    },
  };
  watchDeadline(deadline);
  return { deadline, due };
}

test('a deadline that passed in a pause is moved by bytes that are read after it', async () => {
  const { deadline, due } = startDeadline(100);
  const arrived = new Promise<string>((resolve) => {
    setTimeout(() => {
      deadline.dueMs = performance.now() + 60_000;
      resolve('arrived');
    }, 100);
  });
  Bun.sleepSync(PAUSE_MS);
  expect(await Promise.race([due, arrived])).toBe('arrived');
  unwatchDeadline(deadline);
});

test('a deadline that passed in a pause, and that nothing moves, is due', async () => {
  const { due } = startDeadline(100);
  Bun.sleepSync(PAUSE_MS);
  expect(await due).toBe('due');
});

test('a deadline is due in a process that is always late', async () => {
  const { due } = startDeadline(100);
  const late = setInterval(() => Bun.sleepSync(PAUSE_MS), 1);
  expect(await due).toBe('due');
  clearInterval(late);
}, 15_000);

test('a suspension of the machine is told once, a clock that is corrected or set back never', async () => {
  const trueNow = Date.now;
  let looks = 0;
  let stepMs = 0;
  const clock = spyOn(Date, 'now').mockImplementation(() => {
    looks += 1;
    return trueNow() + stepMs;
  });
  let resumed = 0;
  const stop = watchSuspensions(() => {
    resumed += 1;
  }, 1);
  const told: number[] = [];
  for (const aheadMs of [0, 5_000, 3_600_000, 3_600_000, 0, 11_000]) {
    stepMs = aheadMs;
    const before = looks;
    await eventually('two looks', () => (looks > before + 1 ? true : null));
    told.push(resumed);
  }
  stop();
  clock.mockRestore();
  expect(told).toEqual([0, 0, 1, 1, 1, 2]);
});
