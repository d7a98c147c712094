/**
 * Computes the calendar windows of budgets (day, week from Monday, month, all time) in a time zone, correctly on days
 * when clocks change, and chooses the zone of an account's windows. Caches the ends of days.
 */
import type { BudgetWindow } from '../store/ports/limits.ts';
import type { StoredAccount, WindowZones } from '../store/ports/policy.ts';

/** Unix ms; the end is exclusive, null: no end. */
export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number | null;
}

const DAY_MS = 86_400_000;
const ALL_TIME: TimeWindow = { startMs: 0, endMs: null };

interface Zone {
  readonly clock: Intl.DateTimeFormat;
  /** The last window requested of each kind. */
  readonly windows: Map<BudgetWindow, { readonly startMs: number; readonly endMs: number }>;
}

/** One entry per configured zone; invalid zones are not cached. */
const zones = new Map<string, Zone>();

/**
 * The window that contains `nowMs` by the clocks of `timeZone` (an IANA name). Windows of a kind follow one another
 * without gap or overlap; one begins at the first moment of its first day, which is not always midnight.
 *
 * @throws RangeError for an unknown time zone.
 */
export function windowAt(window: BudgetWindow, timeZone: string, nowMs: number): TimeWindow {
  if (window === 'total') return ALL_TIME;
  const zone = zones.get(timeZone) ?? openZone(timeZone);
  const last = zone.windows.get(window);
  if (last !== undefined && last.startMs <= nowMs && nowMs < last.endMs) return last;
  const found = findWindow(zone, window, nowMs);
  zone.windows.set(window, found);
  return found;
}

function openZone(timeZone: string): Zone {
  const zone: Zone = { clock: openClock(timeZone), windows: new Map() };
  zones.set(timeZone, zone);
  return zone;
}

function openClock(timeZone: string): Intl.DateTimeFormat {
  const [year, other] = ['numeric', '2-digit'] as const;
  const shown = { year, month: other, day: other, hour: other, minute: other, second: other } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', hourCycle: 'h23', ...shown });
  } catch {
    const found = JSON.stringify(timeZone.slice(0, 64));
    throw new RangeError(`time zone: found ${found}, expected an IANA name such as UTC or Europe/Berlin`);
  }
}

function findWindow({ clock }: Zone, window: Exclude<BudgetWindow, 'total'>, nowMs: number) {
  let date = firstDate(window, wallMs(clock, nowMs));
  let startMs = beginningOf(clock, date);
  for (;;) {
    date = nextDate(window, date);
    const endMs = beginningOf(clock, date);
    // Where clocks go back over midnight, a moment of the new day can show the previous date.
    if (nowMs < endMs) return { startMs, endMs };
    startMs = endMs;
  }
}

/** The wall-clock time as if it were UTC, in unix ms. */
function wallMs(clock: Intl.DateTimeFormat, atMs: number): number {
  const shown = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of clock.formatToParts(atMs)) if (type in shown) Object.assign(shown, { [type]: +value });
  return Date.UTC(shown.year, shown.month - 1, shown.day, shown.hour, shown.minute, shown.second);
}

function offsetMs(clock: Intl.DateTimeFormat, atMs: number): number {
  return wallMs(clock, atMs) - Math.floor(atMs / 1_000) * 1_000;
}

/** The first date of the window that contains a wall time. Dates are the unix ms of their midnight in UTC. */
function firstDate(window: Exclude<BudgetWindow, 'total'>, wall: number): number {
  const date = Math.floor(wall / DAY_MS) * DAY_MS;
  const day = new Date(date);
  if (window === 'month') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1);
  return window === 'day' ? date : date - ((day.getUTCDay() + 6) % 7) * DAY_MS;
}

function nextDate(window: Exclude<BudgetWindow, 'total'>, date: number): number {
  const day = new Date(date);
  if (window === 'month') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
  return date + (window === 'day' ? 1 : 7) * DAY_MS;
}

/**
 * The first moment at which the clocks show a date or a later one: midnight by the offset before, unless the clocks
 * change earlier; then midnight by the offset after, or the change itself where it skips midnight.
 */
function beginningOf(clock: Intl.DateTimeFormat, date: number): number {
  // Two days exceed every offset, and a zone's jump over the date line.
  const [before, after] = [offsetMs(clock, date - 2 * DAY_MS), offsetMs(clock, date + 2 * DAY_MS)];
  if (before === after) return date - before;
  const changeMs = findChange(clock, before, date - 2 * DAY_MS, date + 2 * DAY_MS);
  if (date - before < changeMs) return date - before;
  return Math.max(changeMs, date - after);
}

/** Finds by bisection the first moment at which the offset is no longer `before`. */
function findChange(clock: Intl.DateTimeFormat, before: number, fromMs: number, toMs: number): number {
  let [same, changed] = [fromMs, toMs];
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (offsetMs(clock, middle) === before) same = middle;
    else changed = middle;
  }
  return changed;
}

interface Day {
  readonly startMs: number;
  readonly endMs: number;
}

/** Thirty years of one zone. */
const KNOWN_MAX = 10_000;
/** Zone and start → end. */
const ends = new Map<string, number>();

/** The day that contains `atMs` (unix ms) by the clocks of an IANA zone. Fast where the day begins at that moment. */
export function dayAt(timeZone: string, atMs: number): Day {
  const known = ends.get(`${timeZone} ${atMs}`);
  if (known !== undefined) return { startMs: atMs, endMs: known };
  const { startMs, endMs } = windowAt('day', timeZone, atMs);
  const day = { startMs, endMs: endMs ?? Number.POSITIVE_INFINITY };
  if (ends.size >= KNOWN_MAX) ends.clear();
  ends.set(`${timeZone} ${startMs}`, day.endMs);
  return day;
}

const SORTS = ['day', 'week', 'month'] as const satisfies readonly BudgetWindow[];

type Zoned = Pick<StoredAccount, 'timeZone' | 'windowZones'>;

/** Minutes since midnight by the clocks of `timeZone`, also on days when they change. */
export function minuteAt(timeZone: string, atMs: number): number {
  const { clock } = zones.get(timeZone) ?? openZone(timeZone);
  return Math.floor((wallMs(clock, atMs) % DAY_MS) / 60_000);
}

/** The IANA zone of the window that contains the moment, unix ms. */
export function zoneOfWindow({ timeZone, windowZones }: Zoned, window: BudgetWindow, atMs: number): string {
  const kept = window === 'total' ? undefined : windowZones?.[window];
  return kept !== undefined && atMs < kept.untilMs ? kept.zone : timeZone;
}

/** The account's zones after its time zone changes at a moment, unix ms. */
export function changeZone(account: Zoned, timeZone: string, atMs: number): Zoned {
  const windowZones: { -readonly [Sort in keyof WindowZones]: WindowZones[Sort] } = {};
  for (const sort of SORTS) {
    const zone = zoneOfWindow(account, sort, atMs);
    const { endMs } = windowAt(sort, zone, atMs);
    if (zone !== timeZone && endMs !== null) windowZones[sort] = { zone, untilMs: endMs };
  }
  return Object.keys(windowZones).length === 0 ? { timeZone } : { timeZone, windowZones };
}
