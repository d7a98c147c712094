/**
 * Tests that a gateway killed with -9 under two hundred concurrent callers loses no call and charges none twice: at
 * random moments, at the writer's failpoints, and during recovery (with TOLLGATE_EXHAUSTIVE=1 only). `npm run
 * test:crash` runs a thousand rounds and every failpoint.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { emptyTally, runCrashLoop } from './crash-loop.ts';
import { AT_WORK, dieAtWork, dieInRecovery, IN_RECOVERY } from './sweep-failpoints.ts';

const ROUNDS = EXHAUSTIVE ? 10 : 2;
const SEED = 1;

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

test(`${ROUNDS} kills at random moments: no whole answer is lost, none is charged twice, the ledger proves itself`, async () => {
  const { rounds, complete, cut, recoveredVoids, topups } = await runCrashLoop(fake, { rounds: ROUNDS, seed: SEED });
  expect(rounds).toBe(ROUNDS);
  // A loop without complete or cut-off calls would prove nothing.
  expect(Math.min(complete, cut, recoveredVoids, topups)).toBeGreaterThan(ROUNDS);
}, 180_000);

describe('kill -9 at a failpoint of the writer', () => {
  // Without TOLLGATE_EXHAUSTIVE only the failpoint with the most unfinished work.
  test.each(EXHAUSTIVE ? AT_WORK : (['after-post'] as const))(
    '%s under load',
    async (point) => {
      const tally = emptyTally();
      await dieAtWork(fake, tally, point, SEED);
      expect(tally.rounds).toBe(4);
      expect(tally.cut).toBeGreaterThan(200);
    },
    90_000,
  );

  test.each(EXHAUSTIVE ? IN_RECOVERY : [])(
    '%s inside recovery, twice',
    async (point) => {
      const tally = emptyTally();
      await dieInRecovery(fake, tally, point, SEED);
      expect(tally.recoveredVoids + tally.recoveredPosts).toBeGreaterThan(100);
    },
    90_000,
  );
});
