/**
 * Tests that a gateway killed with -9 under two hundred concurrent callers loses no call and charges none twice: at
 * random moments, and between a block's write and its sync. The exhaustive run does each twice, and `npm run prove --
 * crash` a thousand rounds and every failpoint.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { emptyTally, runCrashLoop } from './crash-loop.ts';
import { dieAtWork } from './sweep-failpoints.ts';

const ROUNDS = EXHAUSTIVE ? 2 : 1;
const SEED = 1;

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

test(`${ROUNDS} × kill -9 at random moments: no complete answer is lost, none is charged twice, the ledger is valid`, async () => {
  const { rounds, complete, cut, recoveredVoids, topups } = await runCrashLoop(fake, { rounds: ROUNDS, seed: SEED });
  expect(rounds).toBe(ROUNDS);
  // A loop without complete or cut-off calls would prove nothing.
  expect(Math.min(complete, cut, recoveredVoids, topups)).toBeGreaterThan(ROUNDS);
}, 180_000);

test('kill -9 at a failpoint of the journal, under load', async () => {
  const tally = emptyTally();
  await dieAtWork(fake, tally, 'journal-after-block', SEED, !EXHAUSTIVE);
  expect(tally.rounds).toBe(EXHAUSTIVE ? 4 : 2);
  expect(tally.cut).toBeGreaterThan(50 * tally.rounds);
}, 90_000);
