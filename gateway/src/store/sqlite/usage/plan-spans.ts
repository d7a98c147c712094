/**
 * Splits a range into parts read from whole days, from quarters of an hour and from records, so that together they are
 * exactly the range and every row belongs to one bucket.
 */
import { dayAt } from '../../../admission/window.ts';
import type { UsageAccount } from '../rollup/usage-accounts.ts';

/** Unix ms; the end is exclusive. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpanPlan {
  /** Null: none. */
  readonly days: Span | null;
  readonly quarters: readonly Span[];
  readonly records: readonly Span[];
  /**
   * The part of the last quarter after the range, which is subtracted: little or nothing of it is rolled up. Null: no
   * quarter extends beyond the range.
   */
  readonly beyond: Span | null;
}

export interface PlannedRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly buckets: readonly number[];
  readonly timeZone: string;
}

export const QUARTER_MS = 900_000;

/**
 * `isRolled`: whether series have the requested columns. `kept`: how the account's days are cut. `throughMs`: up to
 * when calls are rolled up.
 */
export function planSpans(
  range: PlannedRange,
  isRolled: boolean,
  kept: Pick<UsageAccount, 'timeZone' | 'sinceMs'>,
  throughMs: number,
): SpanPlan {
  const { fromMs, toMs } = range;
  const whole: Span = { startMs: fromMs, endMs: toMs };
  if (!isRolled) return { days: null, quarters: [], records: spans(whole), beyond: null };
  const days = wholeDays(range, kept);
  const others = days === null ? [whole] : [between(fromMs, days.startMs), between(days.endMs, toMs)];
  if (!boundariesFit(range, (boundary) => boundary % QUARTER_MS === 0)) {
    return { days, quarters: [], records: spans(...others), beyond: null };
  }
  const quarters: Span[] = [];
  const records: Span[] = [];
  let beyond: Span | null = null;
  for (const span of others) {
    const startMs = Math.ceil(span.startMs / QUARTER_MS) * QUARTER_MS;
    const lastMs = Math.floor(span.endMs / QUARTER_MS) * QUARTER_MS;
    const isCut = span.endMs === toMs && throughMs - toMs < toMs - lastMs;
    const endMs = isCut ? Math.ceil(toMs / QUARTER_MS) * QUARTER_MS : lastMs;
    if (startMs >= endMs) {
      records.push(span);
      continue;
    }
    quarters.push(between(startMs, endMs));
    records.push(between(span.startMs, startMs), between(endMs, span.endMs));
    if (endMs > span.endMs) beyond = between(span.endMs, endMs);
  }
  return { days, quarters, records: spans(...records), beyond };
}

/** The whole days within the range; null: no whole day, or a bucket begins in the middle of one. */
function wholeDays(
  { fromMs, toMs, buckets, timeZone }: PlannedRange,
  kept: Pick<UsageAccount, 'timeZone' | 'sinceMs'>,
): Span | null {
  if (kept.timeZone !== timeZone) return null;
  const first = Math.max(fromMs, kept.sinceMs);
  const day = dayAt(timeZone, first);
  const startMs = day.startMs === first ? first : day.endMs;
  const endMs = dayAt(timeZone, toMs).startMs;
  if (startMs >= endMs) return null;
  const inside = { fromMs: startMs, toMs: endMs, buckets };
  return boundariesFit(inside, (boundary) => dayAt(timeZone, boundary).startMs === boundary)
    ? { startMs, endMs }
    : null;
}

/** Whether every bucket boundary inside the range is also a boundary of rows. */
function boundariesFit(
  { fromMs, toMs, buckets }: Pick<PlannedRange, 'fromMs' | 'toMs' | 'buckets'>,
  fits: (boundary: number) => boolean,
): boolean {
  return buckets.every((boundary) => boundary <= fromMs || boundary >= toMs || fits(boundary));
}

function between(startMs: number, endMs: number): Span {
  return { startMs, endMs };
}

function spans(...all: readonly Span[]): Span[] {
  return all.filter(({ startMs, endMs }) => startMs < endMs);
}

/** The bucket that contains a moment; the first one for a moment before all of them. */
export function bucketOf(buckets: readonly number[], atMs: number): number {
  let low = 0;
  let high = buckets.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((buckets[middle] ?? 0) <= atMs) low = middle;
    else high = middle - 1;
  }
  return low;
}
