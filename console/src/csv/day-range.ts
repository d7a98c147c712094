/** Owns ranges of whole days, as a person names them, in his own zone. */

export interface DayRange {
  /** `2026-11-01`. */
  readonly first: string;
  /** In the range too. */
  readonly last: string;
}

/** The month of a day, or one of the months before it. */
export function monthRange(now: Date, monthsBack: number): DayRange {
  const first = new Date(now.getFullYear(), now.getMonth() - monthsBack, 1);
  const last = new Date(now.getFullYear(), now.getMonth() - monthsBack + 1, 0);
  return { first: dayText(first), last: dayText(last) };
}

/** From the beginning of the first day to the end of the last, as instants; null: not two days in order. */
export function rangeInstants({ first, last }: DayRange): { from: string; to: string } | null {
  const from = dayStart(first, 0);
  const to = dayStart(last, 1);
  if (from === null || to === null || from >= to) return null;
  return { from: from.toISOString(), to: to.toISOString() };
}

function dayStart(text: string, daysLater: number): Date | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return null;
  const start = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + daysLater);
  return Number.isNaN(start.getTime()) ? null : start;
}

function dayText(day: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
