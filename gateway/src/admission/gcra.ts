/**
 * Implements per-minute limits: GCRA in its leaky-bucket form, with the limit itself as the burst. Whole numbers only;
 * the clock is passed in.
 */

/**
 * One request or token, in grains. A bucket drains `limit` grains per millisecond, and a full one in a minute, so that
 * every level at every whole millisecond is a whole number, whatever the limit.
 */
const GRAINS = 60_000;

/** Far above what a minute uses; sums stay exact. A larger debt (10¹¹ tokens) is clamped to this. */
const LEVEL_MAX = 2 ** 52;

/** Mutate only through the functions here. */
export interface Bucket {
  /** Grains at `atMs`; above the limit's worth only where more was used than was taken. */
  level: number;
  atMs: number;
  /** Per minute, as last applied. */
  limit: number;
  /** Total grains ever returned. */
  returned: number;
}

/**
 * What a call took from a bucket: `level` is the position of its last grain at that time, in the order in which grains
 * drain.
 */
export interface Taken {
  readonly count: number;
  readonly level: number;
  readonly atMs: number;
  readonly limit: number;
  readonly returned: number;
}

/** An empty bucket: nothing is taken. */
export function newBucket(limit: number, nowMs: number): Bucket {
  return { level: 0, atMs: nowMs, limit, returned: 0 };
}

/** Current grains in the bucket. A clock that goes back drains nothing. */
export function levelAt({ level, atMs }: Bucket, limit: number, nowMs: number): number {
  return nowMs <= atMs ? level : Math.max(0, level - (nowMs - atMs) * limit);
}

/**
 * Smallest backward step treated as a clock that was set back; smaller ones come from the order in which calls arrive.
 */
const STEP_MS = 5_000;

/**
 * After a clock was set back, the bucket drains from the new time instead of waiting until the old time comes again.
 */
export function followClock(bucket: Bucket, nowMs: number): void {
  if (bucket.atMs - nowMs > STEP_MS) bucket.atMs = nowMs;
}

/** Time until `count` more fit if nothing else arrives: exact to the millisecond, 0: now, null: never. */
export function waitMs(level: number, limit: number, count: number): number | null {
  if (count > limit) return null;
  const over = level + count * GRAINS - limit * GRAINS;
  return over <= 0 ? 0 : Math.ceil(over / limit);
}

/** Takes `count`, whether or not it fits: the caller has checked. */
export function take(bucket: Bucket, limit: number, count: number, nowMs: number): void {
  bucket.level = Math.min(LEVEL_MAX, levelAt(bucket, limit, nowMs) + count * GRAINS);
  bucket.atMs = Math.max(bucket.atMs, nowMs);
  bucket.limit = limit;
}

/** What was just taken from the bucket, for `correct`. */
export function takenOf({ level, atMs, limit, returned }: Bucket, count: number): Taken {
  return { count, level, atMs, limit, returned };
}

/**
 * Replaces what a call took with what it used. Usage beyond it is taken now, as a debt where it does not fit. Of the
 * unused rest, only grains that have not drained yet are returned: drained ones are available again already, and
 * returning them twice would let others exceed the limit.
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

/** How many no longer fit, rounded up. */
export function usedOf(level: number): number {
  return Math.ceil(level / GRAINS);
}

/** Time until the full limit is available again. */
export function wholeAfterMs(level: number, limit: number): number {
  return Math.ceil(level / limit);
}
