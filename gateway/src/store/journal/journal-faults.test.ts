/** Tests that the journal loses nothing and accepts nothing wrong, whatever call on its files fails or is the last one. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { EXHAUSTIVE } from '../../../test/fault/calls.ts';
import { exhaustiveTest, SEED } from '../../../test/harness/exhaustive.ts';
import { JournalTrial, turn } from './testing/journal-trial.ts';
import { systemError } from './testing/memory-files.ts';
import { drawBy, runSchedule, type Step } from './testing/run-schedule.ts';

const append = (bytes: number, lazy = false): Step => ({ do: 'append', bytes, lazy });
const turns = (count: number): Step => ({ do: 'turns', count });
const wait = (ms: number): Step => ({ do: 'wait', ms });

/** Waited and lazy frames, some segments, a slow disk, a read model. */
const LIFE: readonly Step[] = [
  append(10),
  append(20, true),
  append(700),
  turns(4),
  append(30, true),
  wait(5),
  append(40, true),
  wait(100),
  { do: 'slow', on: true },
  append(100),
  turns(2),
  append(50, true),
  append(900),
  { do: 'slow', on: false },
  turns(4),
  ...Array.from({ length: 12 }, () => [append(3_000), append(500, true), turns(3)]).flat(),
  { do: 'ingest' },
  ...Array.from({ length: 4 }, () => [append(2_000, true), wait(5), append(2_500), turns(4)]).flat(),
  turns(4),
  { do: 'release' },
  append(60, true),
  append(70),
  turns(1),
  { do: 'flush' },
  turns(4),
];

const LIFE_CALLS = 110;

test('a kill or a power loss at any call leaves what was confirmed, and nothing else', async () => {
  const calls = await runSchedule(LIFE, { random: drawBy(SEED), lossesPerCall: EXHAUSTIVE ? 20 : 1 });
  expect(calls).toBeLessThan(LIFE_CALLS);
  expect(calls).toBeGreaterThan(LIFE_CALLS / 2);
});

for (const code of ['EIO', 'ENOSPC']) {
  test(`after ${code} at any call the journal goes on, and any later call may be the last one`, async () => {
    for (let after = 0; after < LIFE_CALLS; after += EXHAUSTIVE ? 1 : 37) {
      for (const calls of [1, 3]) {
        await runSchedule([{ do: 'fail', after, calls, code }, ...LIFE], { random: drawBy(after), lossesPerCall: 1 });
      }
    }
  });
}

test('whatever room the disk has, nothing confirmed is lost, and the journal goes on once there is more', async () => {
  for (let kib = 32; kib < 160; kib += EXHAUSTIVE ? 1 : 60) {
    const steps: Step[] = [{ do: 'capacity', bytes: kib * 1024 }, ...LIFE];
    await runSchedule(steps, { random: drawBy(kib), lossesPerCall: 1 });
  }
});

test('blocks that a start finds after a failed sync stay after a later power loss', async () => {
  const fail: Step = { do: 'fail', after: 1, calls: 1, code: 'EIO' };
  for (let seed = 0; seed < (EXHAUSTIVE ? 20 : 2); seed++) {
    const steps: Step[] = [append(10), turns(4), fail, append(900), turns(4), { do: 'kill' }, { do: 'powerLoss' }];
    await runSchedule(steps, { random: drawBy(seed), lossesPerCall: 5 });
  }
});

test('so does the head of a segment whose first sync failed', async () => {
  const trial = new JournalTrial();
  await trial.open();
  const hasEntered = () => trial.files.bytesOf('00000002.seg').readUInt32LE(0) !== 0;
  trial.files.faultOf = (name) => (name === 'datasync' && hasEntered() ? systemError('EIO') : null);
  // Nothing of a failed sync is on the disk.
  trial.files.random = () => 0.9;
  while (!hasEntered()) {
    trial.append(900);
    for (let count = 0; count < 12; count++) await turn();
  }
  // Killed before the next segment is tried.
  const left = trial.files.afterKill();
  trial.files.faultOf = () => systemError('EIO');
  trial.leave(left, false);
  await trial.open();
  expect(new Set(trial.fates)).toEqual(new Set(['found']));
  trial.check(
    trial.files.afterPowerLoss(() => false),
    true,
  );
  await trial.journal?.close();
});

test('frames refused by a failed sync stay out once the journal goes on, whatever the power leaves of it', async () => {
  const fail: Step = { do: 'fail', after: 1, calls: 1, code: 'EIO' };
  for (let seed = 0; seed < (EXHAUSTIVE ? 20 : 2); seed++) {
    const steps: Step[] = [append(10), turns(4), fail, append(900), turns(4), wait(500), append(10), turns(4)];
    await runSchedule(steps, { random: drawBy(seed), lossesPerCall: 10 });
  }
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('append'), bytes: fc.nat(2_500), lazy: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turns'), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(5, 100, 500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('slow'), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail'),
      after: fc.nat(12),
      calls: fc.integer({ min: 1, max: 5 }),
      code: fc.constantFrom('EIO', 'ENOSPC'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('shortWrites'), bytes: fc.integer({ min: 100, max: 3_000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('flush', 'ingest', 'release', 'kill', 'powerLoss') }),
  },
) as fc.Arbitrary<Step>;

function testRandomSchedules(runs: number, size: 'small' | 'max'): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size }), fc.integer(), async (steps, seed) => {
      await runSchedule(steps, { random: drawBy(seed), lossesPerCall: 1 });
    }),
    { numRuns: runs, seed: SEED },
  );
}

test('random schedules of work, faults, kills and power losses', () => testRandomSchedules(8, 'small'));
exhaustiveTest(
  'many random schedules of work, faults, kills and power losses',
  () => testRandomSchedules(5_000, 'small'),
  600_000,
);
exhaustiveTest('long random schedules of the same', () => testRandomSchedules(60, 'max'), 600_000);
