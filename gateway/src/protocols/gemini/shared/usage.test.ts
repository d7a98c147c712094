/** Tests the usage of an answer that Gemini continues over many hops. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { UsageTally } from './usage.ts';

const CHUNK = { promptTokenCount: 3, candidatesTokenCount: 2, cachedContentTokenCount: 1, totalTokenCount: 6 };

/** Asks for the usage after each hop, as a stream does. */
function countHops(hops: number): UsageTally {
  const tally = new UsageTally();
  for (let hop = 0; hop < hops; hop += 1) {
    tally.take(CHUNK);
    tally.result();
    tally.endHop();
  }
  return tally;
}

test('the hops add up, with the anomalies of all', () => {
  const tally = countHops(3);
  tally.take({ promptTokenCount: 1, candidatesTokenCount: 1, cachedContentTokenCount: 5, totalTokenCount: 2 });
  expect(tally.result()).toMatchObject({ usage: { input: 6, cache_read: 8, output: 7 }, flags: ['sum', 'cached'] });
});

test('the time is linear in the number of hops', () => {
  countHops(1_000);
  const elapsed = startCpuClock();
  countHops(30_000);
  expect(elapsed()).toBeLessThan(5_000);
}, 60_000);
