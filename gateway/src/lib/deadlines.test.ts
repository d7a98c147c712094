/** Tests that a process that did not run for a while takes what arrived meanwhile before it ends what seems too late. */
import { expect, test } from 'bun:test';
import { UNWATCHED, unwatchDeadline, watchDeadline } from './deadlines.ts';

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
