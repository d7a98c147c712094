/** Reads time ranges and cursors of queries, and computes the bounds of days in an account's time zone. */
import { windowAt } from '../../admission/window.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';

/** The starts of the last `days` days, oldest first, then the end of today. Unix ms; `days` + 1 values. */
export function dayBounds(timeZone: string, nowMs: number, days: number): readonly number[] {
  const today = windowAt('day', timeZone, nowMs);
  const bounds = [today.startMs];
  for (let day = 1; day < days; day++) bounds.unshift(windowAt('day', timeZone, (bounds[0] ?? 0) - 1).startMs);
  return [...bounds, today.endMs ?? nowMs + 1];
}

/** The date in the zone at a moment: `2026-11-30`. */
export function dateIn(timeZone: string, atMs: number): string {
  const shown = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return shown.format(atMs);
}

/** Null: from the newest. Throws `invalid`. */
export function readCursor(before: string | undefined): number | null {
  if (before === undefined) return null;
  const seq = /^[1-9]\d{0,15}$/.test(before) ? Number(before) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw new ConsoleFailure('invalid', 'before: expected the value of next from the previous page', {
    member: 'before',
  });
}

export function renderCursor(seq: number | null): string | null {
  return seq === null ? null : String(seq);
}

/** Unix ms. Throws `invalid` for an invalid range. */
export function readRange({
  from,
  to,
}: {
  readonly from: string;
  readonly to: string;
}): readonly [fromMs: number, toMs: number] {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (fromMs < toMs) return [fromMs, toMs];
  throw new ConsoleFailure('invalid', `to: found ${to}, expected a time after from (${from})`, { member: 'to' });
}
