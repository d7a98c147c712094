/**
 * Tests that budgets crossed between kills with -9 are each reported under one delivery id, beside a dead receiver.
 * `npm run prove -- alerts` crosses a thousand.
 */
import { expect, test } from 'bun:test';
import { runCrossings } from './run-crossings.ts';

test('12 crossings through 3 kills: each is delivered, under one id, and a dead receiver blocks nothing', async () => {
  const tally = await runCrossings({ crossings: 12, kills: 3, seed: 4 });
  expect(tally).toMatchObject({ crossings: 12, kills: 3 });
  // Without these the test would show nothing.
  expect(tally.endedWindows).toBeGreaterThan(0);
  expect(tally.repeated).toBeGreaterThan(0);
  expect(tally.deadConnections).toBeGreaterThan(0);
}, 180_000);
