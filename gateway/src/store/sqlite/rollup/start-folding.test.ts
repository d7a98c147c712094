/**
 * Tests when records are rolled up: step after step while there are more, again after a fault, which is reported once,
 * and not after the end.
 */
import { expect, test } from 'bun:test';
import { startFolding } from './start-folding.ts';

const PACE = { everyMs: 3, restMs: 1, gatherMs: 0 };

/** A writer whose steps have these `outcomes`, one after the other; then there is nothing more. */
function writerOf(outcomes: readonly (boolean | Error)[], isWritable = true) {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let steps = 0;
  return {
    done,
    steps: () => steps,
    writable: () => isWritable,
    async fold() {
      const outcome = outcomes[steps++];
      if (steps === outcomes.length + 1) resolve();
      if (outcome instanceof Error) throw outcome;
      return outcome ?? false;
    },
  };
}

test('a fault is reported once until it worked again', async () => {
  const fault = new Error('broken');
  const writer = writerOf([true, fault, fault, false, fault]);
  const told: unknown[] = [];
  const folding = startFolding(writer, (cause) => told.push(cause), PACE);
  await writer.done;
  folding.stop();
  expect(told).toEqual([fault, fault]);
});

test('a disk that accepts no writes is reported by the writer', async () => {
  const writer = writerOf([new Error('full')], false);
  const told: unknown[] = [];
  const folding = startFolding(writer, (cause) => told.push(cause), PACE);
  await writer.done;
  folding.stop();
  expect(told).toEqual([]);
});

test('no step runs after the end', async () => {
  const writer = writerOf([true, true]);
  const folding = startFolding(writer, () => undefined, PACE);
  await writer.done;
  folding.stop();
  const steps = writer.steps();
  const later = writerOf([false, false, false]);
  const other = startFolding(later, () => undefined, PACE);
  await later.done;
  other.stop();
  expect(writer.steps()).toBe(steps);
});
