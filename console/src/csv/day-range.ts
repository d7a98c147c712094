/** Converts ranges of whole days to instants in an account's time zone. */
import { instantOf, wallTime } from '../lib/zone.ts';

export interface DayRange {
  /** `2026-11-01`. */
  readonly first: string;
  /** Inclusive. */
  readonly last: string;
}

/** The current month in the zone, or an earlier one. */
export function monthRange(now: Date, monthsBack: number, zone: string): DayRange {
  const [year = 0, month = 0] = wallTime(now.getTime(), zone).split('-').map(Number);
  return { first: dayText(year, month - 1 - monthsBack, 1), last: dayText(year, month - monthsBack, 0) };
}

/** Instants from the start of the first day to the end of the last; null when these are not two days in order. */
export function rangeInstants({ first, last }: DayRange, zone: string): { from: string; to: string } | null {
  const from = dayStart(first, 0, zone);
  const to = dayStart(last, 1, zone);
  if (from === null || to === null || from >= to) return null;
  return { from: from.toISOString(), to: to.toISOString() };
}

function dayStart(text: string, daysLater: number, zone: string): Date | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return null;
  return instantOf(`${dayText(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + daysLater)}T00:00`, zone);
}

/** Months count from 0; days and months out of range overflow. */
function dayText(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10);
}
