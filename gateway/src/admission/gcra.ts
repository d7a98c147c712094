/**
 * Owns the arithmetic of a limit per minute: GCRA in its form as a bucket that drains, whose burst is the limit itself.
 * Whole numbers only; the clock is passed in. Knows no call and no subject.
 */

/**
 * One request or token, in grains. The limit drains `limit` grains a millisecond, and a full bucket in a minute, so that every
 * level at every whole millisecond is a whole number, whatever the limit.
 */
const GRAINS = 60_000;

/** Far beyond what a minute holds; sums stay exact. A debt above it (10¹¹ tokens) is taken as this much. */
const LEVEL_MAX = 2 ** 52;

/** Change it only through the functions here. */
export interface Bucket {
  /** Grains at `atMs`; above the limit's worth only where more was used than was taken. */
  level: number;
  atMs: number;
  /** Per minute, as it last bound. */
  limit: number;
  /** Grains given back, ever. */
  returned: number;
}

/** What a call took of a bucket: where its last grain stood then, in the order in which they drain. */
export interface Taken {
  readonly count: number;
  readonly level: number;
  readonly atMs: number;
  readonly limit: number;
  readonly returned: number;
}

/** A bucket of which nothing is taken. */
export function newBucket(limit: number, nowMs: number): Bucket {
  return { level: 0, atMs: nowMs, limit, returned: 0 };
}

/** Grains in the bucket now. A clock that goes back drains nothing. */
export function levelAt({ level, atMs }: Bucket, limit: number, nowMs: number): number {
  return nowMs <= atMs ? level : Math.max(0, level - (nowMs - atMs) * limit);
}

/** The clock was set back by so much: less is the order in which calls happen to come. */
const STEP_MS = 5_000;

/** After a clock was set back the bucket drains on from there, and does not wait until that time comes again. */
export function followClock(bucket: Bucket, nowMs: number): void {
  if (bucket.atMs - nowMs > STEP_MS) bucket.atMs = nowMs;
}

/** How long until `count` more fit, with nothing else coming: exact to the millisecond, 0: now, null: never. */
export function waitMs(level: number, limit: number, count: number): number | null {
  if (count > limit) return null;
  const over = level + count * GRAINS - limit * GRAINS;
  return over <= 0 ? 0 : Math.ceil(over / limit);
}

/** Takes `count`, whether or not it fits: whoever asks has looked. */
export function take(bucket: Bucket, limit: number, count: number, nowMs: number): void {
  bucket.level = Math.min(LEVEL_MAX, levelAt(bucket, limit, nowMs) + count * GRAINS);
  bucket.atMs = Math.max(bucket.atMs, nowMs);
  bucket.limit = limit;
}

/** What has just been taken of the bucket, for `correct`. */
export function takenOf({ level, atMs, limit, returned }: Bucket, count: number): Taken {
  return { count, level, atMs, limit, returned };
}

/**
 * Makes what a call took into what it used. What it used beyond is taken now, as a debt where it does not fit. Of the rest
 * only what has not drained meanwhile is given back: the time for it has passed, and giving it back twice would let others
 * above the limit.
 */
export function correct(bucket: Bucket, taken: Taken, used: number, nowMs: number): void {
  const { limit } = bucket;
  if (used >= taken.count) {
    take(bucket, limit, used - taken.count, nowMs);
    return;
  }
  const level = levelAt(bucket, limit, nowMs);
  const passed = Math.max(0, nowMs - taken.atMs) * taken.limit + (bucket.returned - taken.returned);
  const back = Math.max(0, Math.min((taken.count - used) * GRAINS, taken.level - passed, level));
  bucket.level = level - back;
  bucket.atMs = Math.max(bucket.atMs, nowMs);
  bucket.returned += back;
}

/** How many still fit. */
export function remainingOf(level: number, limit: number): number {
  return Math.max(0, Math.floor(limit - level / GRAINS));
}

/** How many do not fit any more, a part of one as one. */
export function usedOf(level: number): number {
  return Math.ceil(level / GRAINS);
}

/** How long until all of the limit fits again. */
export function wholeAfterMs(level: number, limit: number): number {
  return Math.ceil(level / limit);
}
