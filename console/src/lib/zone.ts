/** Owns the clock of a page: the account's zone, what its clocks show at an instant, and at which instant they show it. */
import { createContext, useContext } from 'react';

/** Around the pages of an account. Where there is none, the reader's own. */
export const ZoneContext = createContext(Intl.DateTimeFormat().resolvedOptions().timeZone);

/** IANA name. */
export function useZone(): string {
  return useContext(ZoneContext);
}

type Shape = Intl.DateTimeFormatOptions;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Each made once: making one takes longer than a row of a table. Throws RangeError for an unknown zone. */
export function zoneFormat(zone: string, shape: Shape): Intl.DateTimeFormat {
  const name = `${zone} ${JSON.stringify(shape)}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat('en-GB', { ...shape, timeZone: zone });
  formats.set(name, format);
  return format;
}

/** `21 Nov 2026, 14:03:11`. */
export function exactTime(iso: string, zone: string): string {
  return zoneFormat(zone, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(iso));
}

const WALL: Shape = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

/** As a `datetime-local` field has it: `2026-11-21T14:03`. */
export function wallTime(at: string | number, zone: string): string {
  const parts = zoneFormat(zone, WALL).formatToParts(new Date(at));
  const of = (type: string) => parts.find((part) => part.type === type)?.value;
  return `${of('year')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}

const DAY_MS = 86_400_000;

/**
 * When the zone's clocks show a `2026-11-21T14:03`: the first time where they show it twice, by the offset before where they leap
 * over it. Null: not a time.
 */
export function instantOf(wall: string, zone: string): Date | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(wall)) return null;
  const asUtcMs = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtcMs)) return null;
  const byOffsetAt = (atMs: number) => asUtcMs - (Date.parse(`${wallTime(atMs, zone)}Z`) - atMs);
  const [before, after] = [byOffsetAt(asUtcMs - DAY_MS), byOffsetAt(asUtcMs + DAY_MS)];
  return new Date([before, after].find((ms) => wallTime(ms, zone) === wall) ?? before);
}
