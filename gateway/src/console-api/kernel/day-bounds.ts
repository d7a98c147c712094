/** Computes the bounds of days in an account's time zone. */
import { windowAt } from '../../admission/window.ts';

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
