/**
 * Tests the money of attempts over random failures and a kill, on a small scale. `npm run prove -- attempts` runs ten
 * thousand failures and ten kills.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { SEED } from '../harness/exhaustive.ts';
import { killStreams } from './kill-streams.ts';
import { playFailures } from './play-failures.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

test('whatever usage the upstreams report over 300 random failures is booked to the nano-dollar', async () => {
  const { calls, attempts, lost, reported, booked, estimated } = await playFailures(fake, 300, SEED);
  expect(booked).toBe(reported);
  expect(attempts).toBeGreaterThan(calls);
  expect(Math.min(lost.yes, lost.maybe, lost.no)).toBeGreaterThan(10);
  expect(estimated).toBeGreaterThan(0n);
}, 60_000);

test('streams killed in their second attempt are charged once, within one checkpoint interval, and never sent again', async () => {
  const { streams, byCheckpoint } = await killStreams(fake, SEED, 'second');
  expect(streams).toBeGreaterThan(byCheckpoint);
  expect(byCheckpoint).toBeGreaterThan(0);
}, 60_000);
