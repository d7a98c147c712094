/**
 * Tests that a gateway killed with -9 under two hundred concurrent callers loses no call and charges none twice: at
 * random moments, and between a block's write and its sync. `npm run prove -- crash` runs a thousand
 * rounds and every failpoint.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { emptyTally, runCrashLoop } from './crash-loop.ts';
import { dieAtWork } from './sweep-failpoints.ts';

const ROUNDS = 2;
const SEED = 1;

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

test(`${ROUNDS} kills at random moments: no complete answer is lost, none is charged twice, the ledger is valid`, async () => {
  const { rounds, complete, cut, recoveredVoids, topups } = await runCrashLoop(fake, { rounds: ROUNDS, seed: SEED });
  expect(rounds).toBe(ROUNDS);
  // A loop without complete or cut-off calls would prove nothing.
  expect(Math.min(complete, cut, recoveredVoids, topups)).toBeGreaterThan(ROUNDS);
}, 180_000);

test('kill -9 at a failpoint of the journal, under load', async () => {
  const tally = emptyTally();
  await dieAtWork(fake, tally, 'journal-after-block', SEED);
  expect(tally.rounds).toBe(4);
  expect(tally.cut).toBeGreaterThan(200);
}, 90_000);
