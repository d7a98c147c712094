/**
 * Reads and formats the time range of a page from the address: a preset relative to now, a calendar period in the
 * account's zone, or two fixed times.
 */
import { instantOf, wallTime, zoneFormat } from '../lib/zone.ts';

export const PRESETS = ['1h', '24h', '7d', '30d', '90d'] as const;
export type Preset = (typeof PRESETS)[number];

/** Periods of whole days; weeks start on Monday. Those that contain now end with the current minute. */
export const CALENDAR_LABELS = {
  today: 'Today',
  yesterday: 'Yesterday',
  this_week: 'This week',
  last_week: 'Last week',
  this_month: 'This month',
  last_month: 'Last month',
} as const;
export type Calendar = keyof typeof CALENDAR_LABELS;

export interface TimeRange {
  /** Null for a custom range, and a calendar period. */
  readonly preset: Preset | null;
  readonly calendar: Calendar | null;
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const PRESET_MS: Readonly<Record<Preset, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
  '90d': 90 * 24 * HOUR_MS,
};

/**
 * Reads the time range of an address from `range`, or from `from` and `to`; an unreadable one becomes the preset
 * `usual`. A preset ends with the current minute and starts on a whole minute, or on a whole hour when it is longer
 * than an hour, so that buckets are whole. `zone`: that of calendar periods.
 */
export function readRange(
  search: Readonly<Record<string, string>>,
  usual: Preset,
  nowMs: number,
  zone: string,
): TimeRange {
  const own = ownRange(search);
  if (own !== null) return own;
  if (isCalendar(search.range)) return calendarRange(search.range, nowMs, zone);
  const preset = PRESETS.find((one) => one === search.range) ?? usual;
  const endMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const unitMs = preset === '1h' ? MINUTE_MS : HOUR_MS;
  const beginMs = Math.floor((endMs - PRESET_MS[preset]) / unitMs) * unitMs;
  return { preset, calendar: null, from: new Date(beginMs).toISOString(), to: new Date(endMs).toISOString() };
}

function ownRange({ from, to }: Readonly<Record<string, string>>): TimeRange | null {
  const beginMs = Date.parse(from ?? '');
  const endMs = Date.parse(to ?? '');
  if (!(beginMs < endMs)) return null;
  return { preset: null, calendar: null, from: new Date(beginMs).toISOString(), to: new Date(endMs).toISOString() };
}

const isCalendar = (text: string | undefined): text is Calendar =>
  text !== undefined && Object.hasOwn(CALENDAR_LABELS, text);

function calendarRange(calendar: Calendar, nowMs: number, zone: string): TimeRange {
  const [year = 0, month = 1, day = 1] = wallTime(nowMs, zone).slice(0, 10).split('-').map(Number);
  // Days of the month may be out of range: they overflow into the months around it.
  const at = (ofMonth: number, ofDay: number) =>
    instantOf(`${new Date(Date.UTC(year, ofMonth, ofDay)).toISOString().slice(0, 10)}T00:00`, zone)?.getTime() ?? nowMs;
  const endMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const thisMonth = month - 1;
  const monday = day - ((new Date(Date.UTC(year, thisMonth, day)).getUTCDay() + 6) % 7);
  const starts: Readonly<Record<string, readonly [now: number, before: number]>> = {
    day: [at(thisMonth, day), at(thisMonth, day - 1)],
    week: [at(thisMonth, monday), at(thisMonth, monday - 7)],
    month: [at(thisMonth, 1), at(thisMonth - 1, 1)],
  };
  const [now = nowMs, before = nowMs] = starts[calendar.split('_')[1] ?? 'day'] ?? [];
  const [fromMs, toMs] = /^(?:last|yes)/.test(calendar) ? [before, now] : [now, endMs];
  // At midnight a period has begun a moment ago.
  const lastMs = toMs > fromMs ? toMs : fromMs + MINUTE_MS;
  return { preset: null, calendar, from: new Date(fromMs).toISOString(), to: new Date(lastMs).toISOString() };
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** `Nov 21, 14:00 – 16:00`, in the given zone. */
export function rangeText({ from, to }: { readonly from: string; readonly to: string }, zone: string): string {
  const isSameDay = wallTime(from, zone).slice(0, 10) === wallTime(to, zone).slice(0, 10);
  const whole = zoneFormat(zone, { ...DAY, ...CLOCK });
  return `${whole.format(new Date(from))} – ${(isSameDay ? zoneFormat(zone, CLOCK) : whole).format(new Date(to))}`;
}
