/** Tests that calls that run may end on a full disk, and that no new one begins without room for its end. */
import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { JournalTrial } from './testing/journal-trial.ts';
import { pass } from './testing/run-schedule.ts';

const SEGMENT_BYTES = 64 * 1024;
/** An end of nearly 4 KiB with its block. */
const END_BYTES = 3_900;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A journal on a disk with room for so many segments. */
async function openOn(segments: number): Promise<JournalTrial> {
  const trial = new JournalTrial(SEGMENT_BYTES);
  trial.files.capacityBytes = segments * SEGMENT_BYTES;
  await trial.open();
  await pass(0);
  return trial;
}

for (const segments of [1, 2, 3, 7]) {
  for (const running of segments === 7 ? [50] : [0, 1, 5, 9]) {
    test(`${running} running calls end on a full disk of ${segments} segments; a new one waits for room`, async () => {
      const trial = await openOn(segments);
      trial.journal?.provideFor(running);
      await pass(0);
      let begun = 0;
      while (trial.journal?.writable()) {
        trial.append(begun % 7 === 0 ? 3_000 : 300);
        await pass(0);
        begun += 1;
      }
      expect(begun).toBeGreaterThan(0);
      expect(trial.changes).toEqual(['full']);
      expect(trial.problems).toEqual([expect.stringContaining('has no further segment')]);
      const ends = Array.from({ length: running }, () => trial.append(END_BYTES));
      for (let count = 0; count < running; count++) await pass(0);
      await pass(0);
      expect(ends.map((id) => trial.fates[id])).toEqual(ends.map(() => 'acked'));

      trial.files.capacityBytes = Number.POSITIVE_INFINITY;
      await pass(500);
      expect(trial.journal?.writable()).toBe(true);
      expect(trial.changes).toEqual(['full', null]);
      trial.append(10);
      await pass(0);
      expect(trial.fates.at(-1)).toBe('acked');
      await trial.journal?.close();
      trial.check(trial.files.afterKill(), false);
    });
  }
}

test('without any room frames with waiters are refused as full, the others wait', async () => {
  const trial = await openOn(1);
  const lazy = trial.append(100, true);
  while (trial.fates.at(-1) !== 'refused') {
    trial.append(3_000);
    await pass(0);
  }
  const late = trial.append(100, true);
  const refused = trial.append(10);
  expect(trial.fates[refused]).toBe('refused');
  expect(await trial.flush()).toBe('full');
  expect(trial.journal?.writable()).toBe(false);
  trial.files.capacityBytes = Number.POSITIVE_INFINITY;
  await pass(500);
  expect(trial.journal?.writable()).toBe(true);
  await pass(5);
  await pass(100);
  expect(await trial.flush()).toBe('flushed');
  expect([trial.fates[lazy], trial.fates[late]]).toEqual(['acked', 'acked']);
  await trial.journal?.close();
  trial.check(trial.files.afterKill(), false);
});

test('segments whose blocks the database has make room', async () => {
  const trial = await openOn(3);
  for (let count = 0; count < 200; count++) {
    trial.append(3_000);
    await pass(0);
    trial.ingest();
    trial.release();
    await pass(0);
    await pass(500);
  }
  expect(trial.fates.every((fate) => fate === 'acked')).toBe(true);
  expect(trial.journal?.writable()).toBe(true);
  expect(trial.files.list('').length).toBeLessThanOrEqual(3);
  await trial.journal?.close();
});
