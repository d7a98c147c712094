/**
 * Owns which part of a range is read from whole days, which from quarters of an hour, and which from the records, so that
 * together they are exactly the range and every row lies in one bucket.
 */
import { windowAt } from '../../../admission/window.ts';
import type { UsageAccount } from './usage-accounts.ts';

/** Unix ms; the end is no longer part of it. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpanPlan {
  /** Null: none. */
  readonly days: Span | null;
  readonly quarters: readonly Span[];
  readonly records: readonly Span[];
}

export interface PlannedRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly buckets: readonly number[];
  readonly timeZone: string;
}

export const QUARTER_MS = 900_000;

/** `isRolled`: whether series have what is asked for. `kept`: how the account's days are cut. */
export function planSpans(
  range: PlannedRange,
  isRolled: boolean,
  kept: Pick<UsageAccount, 'timeZone' | 'sinceMs'>,
): SpanPlan {
  const { fromMs, toMs } = range;
  const whole: Span = { startMs: fromMs, endMs: toMs };
  if (!isRolled) return { days: null, quarters: [], records: spans(whole) };
  const days = wholeDays(range, kept);
  const others = days === null ? [whole] : [between(fromMs, days.startMs), between(days.endMs, toMs)];
  if (!boundariesFit(range, (boundary) => boundary % QUARTER_MS === 0)) {
    return { days, quarters: [], records: spans(...others) };
  }
  const quarters: Span[] = [];
  const records: Span[] = [];
  for (const span of others) {
    const startMs = Math.ceil(span.startMs / QUARTER_MS) * QUARTER_MS;
    const endMs = Math.floor(span.endMs / QUARTER_MS) * QUARTER_MS;
    if (startMs >= endMs) {
      records.push(span);
      continue;
    }
    quarters.push(between(startMs, endMs));
    records.push(between(span.startMs, startMs), between(endMs, span.endMs));
  }
  return { days, quarters, records: spans(...records) };
}

/** The whole days within the range; null: there are none, or a bucket begins in the middle of one. */
function wholeDays(
  { fromMs, toMs, buckets, timeZone }: PlannedRange,
  kept: Pick<UsageAccount, 'timeZone' | 'sinceMs'>,
): Span | null {
  if (kept.timeZone !== timeZone) return null;
  const first = Math.max(fromMs, kept.sinceMs);
  const day = windowAt('day', timeZone, first);
  const startMs = day.startMs === first ? first : (day.endMs ?? toMs);
  const endMs = windowAt('day', timeZone, toMs).startMs;
  if (startMs >= endMs) return null;
  const inside = { fromMs: startMs, toMs: endMs, buckets };
  return boundariesFit(inside, (boundary) => windowAt('day', timeZone, boundary).startMs === boundary)
    ? { startMs, endMs }
    : null;
}

/** Whether every boundary between buckets inside the range is one that rows keep to. */
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

/** The bucket that a moment lies in; the first one where it is before all. */
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
