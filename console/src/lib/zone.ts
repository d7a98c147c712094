/** Converts between instants and clock times in a zone, and formats them. */
import { createContext, useContext } from 'react';

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The account's, set around its pages: ranges, days, budgets and statements follow it. */
export const ZoneContext = createContext(BROWSER_ZONE);
/** The viewer's choice: times of day are shown and entered in it. */
export const ClockZoneContext = createContext(BROWSER_ZONE);

/** The account's zone, by its IANA name: for ranges and days. */
export function useZone(): string {
  return useContext(ZoneContext);
}

/** The viewer's zone, by its IANA name: for times of day. */
export function useClockZone(): string {
  return useContext(ClockZoneContext);
}

/** The zone in which the columns of a chart are labeled: days are the account's, hours and minutes are times of day. */
export function useColumnZone(step: 'minute' | 'hour' | 'day'): string {
  const [days, clock] = [useZone(), useClockZone()];
  return step === 'day' ? days : clock;
}

/** The zone that a viewer chose; null: the account's. A name that the browser doesn't know is the account's zone. */
export function clockZone(chosen: string | null, accountZone: string): string {
  if (chosen === null) return accountZone;
  if (chosen === 'browser') return BROWSER_ZONE;
  try {
    zoneFormat(chosen, {});
    return chosen;
  } catch {
    return accountZone;
  }
}

type Shape = Intl.DateTimeFormatOptions;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached: creating a format takes longer than rendering a table row. Throws RangeError for an unknown zone. */
export function zoneFormat(zone: string, shape: Shape): Intl.DateTimeFormat {
  const name = `${zone} ${JSON.stringify(shape)}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat('en-US', { ...shape, timeZone: zone });
  formats.set(name, format);
  return format;
}

/** `Nov 21, 2026, 14:03:11`. */
export function exactTime(iso: string, zone: string): string {
  return zoneFormat(zone, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(new Date(iso));
}

/** `Nov 21, 2026, 14:03:11 (Europe/Berlin)`, and the same in UTC on a second line. */
export function timeTitle(iso: string, zone: string): string {
  const utc = `${exactTime(iso, 'UTC')} (UTC)`;
  return zone === 'UTC' ? utc : `${exactTime(iso, zone)} (${zone})\n${utc}`;
}

const WALL: Shape = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

/** In the format of a `datetime-local` field: `2026-11-21T14:03`. */
export function wallTime(at: string | number, zone: string): string {
  const parts = zoneFormat(zone, WALL).formatToParts(new Date(at));
  const of = (type: string) => parts.find((part) => part.type === type)?.value;
  return `${of('year')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}

const DAY_MS = 86_400_000;

/**
 * The instant of a zone's clock time such as `2026-11-21T14:03`: the first one when the clock shows it twice; by the
 * earlier offset when the clock skips it. Null when the text is not a time.
 */
export function instantOf(wall: string, zone: string): Date | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(wall)) return null;
  const asUtcMs = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtcMs)) return null;
  const byOffsetAt = (atMs: number) => asUtcMs - (Date.parse(`${wallTime(atMs, zone)}Z`) - atMs);
  const [before, after] = [byOffsetAt(asUtcMs - DAY_MS), byOffsetAt(asUtcMs + DAY_MS)];
  return new Date([before, after].find((ms) => wallTime(ms, zone) === wall) ?? before);
}
