/**
 * Tests that calls become due at their pace regardless of their consumers, and that no consumer wakes twice or without
 * a call.
 */
import { describe, expect, test } from 'bun:test';
import { AT_ONCE, startArrivals } from './call-feed.ts';

/** A client that takes due calls until it has `count` of them; records when each was due and how long that took. */
async function takeCalls(callsPerSecond: number, count: number): Promise<{ due: number[]; lastedMs: number }> {
  const startedAt = performance.now();
  const arrivals = startArrivals(callsPerSecond);
  const due: number[] = [];
  const all = Promise.withResolvers<void>();
  const takeAll = () => {
    for (let at = arrivals.take(takeAll); at !== null; at = arrivals.take(takeAll)) due.push(at);
    if (due.length >= count) all.resolve();
  };
  takeAll();
  await all.promise;
  arrivals.stop();
  return { due, lastedMs: performance.now() - startedAt };
}

describe('a feed', () => {
  test('at once gives every client a call, due now', () => {
    const before = performance.now();
    expect(AT_ONCE.take(() => {})).toBeGreaterThanOrEqual(before);
  });

  test('at a pace gives so many calls a second and no more', async () => {
    const { due, lastedMs } = await takeCalls(500, 50);
    expect(lastedMs).toBeGreaterThanOrEqual(100);
    expect(due.length).toBeLessThanOrEqual(lastedMs / 2);
    expect(due).toEqual([...due].sort((one, other) => one - other));
  });

  test('calls that no client takes wait, and keep the time at which they were due', async () => {
    const arrivals = startArrivals(1000);
    while (arrivals.waiting === 0) await new Promise(setImmediate);
    const cameBefore = performance.now();
    while (arrivals.waiting < 20) await new Promise(setImmediate);
    const waited = arrivals.waiting;
    expect(arrivals.take(() => {})).toBeLessThanOrEqual(cameBefore);
    expect(arrivals.waiting).toBe(waited - 1);
    arrivals.stop();
  });

  test('wakes a waiting client once, not one that is gone, and all at the end', async () => {
    const arrivals = startArrivals(200);
    const woken: string[] = [];
    const gone = () => void woken.push('gone');
    const stays = Promise.withResolvers<void>();
    arrivals.take(gone);
    arrivals.forget(gone);
    arrivals.take(() => {
      woken.push('stays');
      stays.resolve();
    });
    await stays.promise;
    expect(arrivals.waiting).toBeGreaterThan(0);
    // A late tick releases more than one call.
    while (arrivals.waiting > 0) arrivals.take(() => {});
    arrivals.stop();
    arrivals.stop();
    expect(woken).toEqual(['stays']);
    arrivals.take(() => void woken.push('at the end'));
    arrivals.stop();
    expect(woken).toEqual(['stays', 'at the end']);
  });
});
