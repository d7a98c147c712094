/** Tests gcra.ts: exact against the textbook form of the same rule in fractions, and what a refund must not do. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { correct, followClock, levelAt, newBucket, remainingOf, take, takenOf, waitMs, wholeAfterMs } from './gcra.ts';

/** Checks and takes if it fits; otherwise returns how long it would have to wait. */
function ask(bucket: ReturnType<typeof newBucket>, limit: number, count: number, nowMs: number): number | null {
  const wait = waitMs(levelAt(bucket, limit, nowMs), limit, count);
  if (wait === 0) take(bucket, limit, count, nowMs);
  return wait;
}

test('rpm 2 admits two at once and then one each 30 s, to the millisecond', () => {
  const bucket = newBucket(2, 0);
  expect([0, 0, 0].map((nowMs) => ask(bucket, 2, 1, nowMs))).toEqual([0, 0, 30_000]);
  expect([29_999, 30_000, 30_000, 59_999, 60_000].map((nowMs) => ask(bucket, 2, 1, nowMs))).toEqual([
    1, 0, 30_000, 1, 0,
  ]);
});

test('more than the limit never fits', () => {
  expect(waitMs(0, 100, 101)).toBeNull();
  expect(waitMs(0, 100, 100)).toBe(0);
});

/** The textbook's virtual scheduling, with times in 1/limit of a millisecond, so that every time is an integer. */
function schedule(limit: bigint) {
  let arrival = 0n;
  return (count: bigint, nowMs: bigint): bigint => {
    const now = nowMs * limit;
    const next = (arrival > now ? arrival : now) + count * 60_000n;
    const over = next - (now + 60_000n * limit);
    if (over <= 0n) arrival = next;
    return over <= 0n ? 0n : (over + limit - 1n) / limit;
  };
}

const ARRIVALS = fc.array(
  fc.record({ gapMs: fc.oneof(fc.nat(50), fc.nat(90_000)), count: fc.integer({ min: 1, max: 9 }) }),
  {
    minLength: 1,
    maxLength: 60,
    size: 'max',
  },
);

test('matches the textbook algorithm for every limit', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 9, max: 40 }), fc.integer({ min: 9, max: 1_000_000_000 })),
      ARRIVALS,
      (limit, arrivals) => {
        let nowMs = 1_790_000_000_000;
        const bucket = newBucket(limit, nowMs);
        const textbook = schedule(BigInt(limit));
        for (const { gapMs, count } of arrivals) {
          nowMs += gapMs;
          const share = Math.max(1, Math.floor((limit * count) / 9));
          const wait = ask(bucket, limit, share, nowMs);
          expect(wait).toBe(Number(textbook(BigInt(share), BigInt(nowMs))));
          if (wait === null || wait === 0) continue;
          expect(waitMs(levelAt(bucket, limit, nowMs + wait - 1), limit, share)).toBe(1);
          expect(waitMs(levelAt(bucket, limit, nowMs + wait), limit, share)).toBe(0);
        }
      },
    ),
  );
});

test('the remaining requests fit, one more does not; the reset time is exact', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(fc.nat(400), { maxLength: 30, size: 'max' }),
      (limit, gaps) => {
        let nowMs = 0;
        const bucket = newBucket(limit, nowMs);
        for (const gapMs of gaps) {
          nowMs += gapMs;
          ask(bucket, limit, 1, nowMs);
          const level = levelAt(bucket, limit, nowMs);
          const remaining = remainingOf(level, limit);
          expect(waitMs(level, limit, remaining)).toBe(0);
          expect(waitMs(level, limit, remaining + 1)).not.toBe(0);
          const wholeMs = nowMs + wholeAfterMs(level, limit);
          expect(levelAt(bucket, limit, wholeMs)).toBe(0);
          expect(levelAt(bucket, limit, wholeMs - 1)).toBeGreaterThan(0);
        }
      },
    ),
  );
});

describe('giving back', () => {
  test('unused tokens are available at once', () => {
    const bucket = newBucket(100, 0);
    take(bucket, 100, 90, 0);
    const taken = takenOf(bucket, 90);
    correct(bucket, taken, 10, 0);
    expect(remainingOf(levelAt(bucket, 100, 0), 100)).toBe(90);
  });

  test('usage beyond the estimate is a debt with an exact wait', () => {
    const bucket = newBucket(100, 0);
    take(bucket, 100, 50, 0);
    correct(bucket, takenOf(bucket, 50), 250, 0);
    expect(remainingOf(levelAt(bucket, 100, 0), 100)).toBe(0);
    expect(waitMs(levelAt(bucket, 100, 0), 100, 1)).toBe(90_600);
  });

  test('a huge debt stays a finite number', () => {
    const bucket = newBucket(1, 0);
    take(bucket, 1, 1, 0);
    correct(bucket, takenOf(bucket, 1), Number.MAX_SAFE_INTEGER, 0);
    expect(Number.isSafeInteger(levelAt(bucket, 1, 0))).toBe(true);
    expect(Number.isSafeInteger(waitMs(levelAt(bucket, 1, 0), 1, 1))).toBe(true);
  });

  test('drained tokens are not returned a second time', () => {
    const bucket = newBucket(100, 0);
    take(bucket, 100, 100, 0);
    const first = takenOf(bucket, 100);
    take(bucket, 100, 100, 60_000);
    correct(bucket, first, 0, 60_000);
    expect(remainingOf(levelAt(bucket, 100, 60_000), 100)).toBe(0);
  });

  test('never allows more in a time span than the limit plus what drains in it', () => {
    const step = fc.record({
      gapMs: fc.nat(40_000),
      count: fc.integer({ min: 1, max: 100 }),
      used: fc.nat(100),
      ends: fc.nat(5),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 40, size: 'max' }), (steps) => {
        const limit = 100;
        const bucket = newBucket(limit, 0);
        const calls: { atMs: number; uses: number }[] = [];
        const open: { call: (typeof calls)[number]; taken: ReturnType<typeof takenOf>; used: number }[] = [];
        let nowMs = 0;
        for (const { gapMs, count, used, ends } of steps) {
          nowMs += gapMs;
          for (const { call, taken, used: real } of open.splice(0, ends)) {
            correct(bucket, taken, real, nowMs);
            call.uses = real;
          }
          if (ask(bucket, limit, count, nowMs) !== 0) continue;
          const call = { atMs: nowMs, uses: count };
          calls.push(call);
          open.push({ call, taken: takenOf(bucket, count), used: Math.min(count, used) });
          for (const [index, { atMs }] of calls.entries()) {
            const since = calls.slice(index).reduce((sum, each) => sum + each.uses, 0);
            expect(since * 60_000).toBeLessThanOrEqual(limit * 60_000 + limit * (nowMs - atMs));
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('after a step back of the clock the bucket drains from the new time', () => {
  const bucket = newBucket(10, 3_600_000);
  take(bucket, 10, 10, 3_600_000);
  followClock(bucket, 0);
  expect(waitMs(levelAt(bucket, 10, 0), 10, 1)).toBe(6_000);
  expect(waitMs(levelAt(bucket, 10, 6_000), 10, 1)).toBe(0);
});

test('calls out of order by less than five seconds are not a step of the clock', () => {
  const bucket = newBucket(10, 5_000);
  take(bucket, 10, 10, 5_000);
  followClock(bucket, 0);
  expect(bucket.atMs).toBe(5_000);
});

test('a clock that goes back drains and returns nothing', () => {
  const bucket = newBucket(10, 1_000);
  take(bucket, 10, 10, 1_000);
  expect(waitMs(levelAt(bucket, 10, 0), 10, 1)).toBe(6_000);
  take(bucket, 10, 0, 0);
  expect(waitMs(levelAt(bucket, 10, 7_000), 10, 1)).toBe(0);
  expect(waitMs(levelAt(bucket, 10, 6_999), 10, 1)).toBe(1);
});
