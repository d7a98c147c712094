/** Tests window.ts: windows are contiguous and begin with their first day, according to an independent calendar. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { BudgetWindow } from '../store/ports/limits.ts';
import { minuteAt, windowAt } from './window.ts';

/** Half hours, quarters, changes by half an hour and by two hours, changes at midnight, jumps across the date line. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Sao_Paulo',
  'America/Asuncion',
  'Atlantic/Azores',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Asia/Gaza',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Pacific/Marquesas',
  'Antarctica/Troll',
];

/** The local date, as text that sorts. */
const dateAt = (timeZone: string, atMs: number): string => new Date(atMs).toLocaleDateString('sv-SE', { timeZone });

function firstDate(window: BudgetWindow, date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  if (window === 'month') day.setUTCDate(1);
  if (window === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
}

const MOMENT = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) });
const WINDOW = fc.constantFrom('day', 'week', 'month');

test('every moment is in exactly one window, adjacent to its neighbors', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), WINDOW, MOMENT, (timeZone, window, nowMs) => {
      const { startMs, endMs } = windowAt(window, timeZone, nowMs);
      expect(startMs).toBeLessThanOrEqual(nowMs);
      if (endMs === null) throw new Error('a calendar window ends');
      expect(endMs).toBeGreaterThan(nowMs);
      expect(windowAt(window, timeZone, endMs).startMs).toBe(endMs);
      expect(windowAt(window, timeZone, startMs - 1).endMs).toBe(startMs);
      expect(windowAt(window, timeZone, endMs - 1)).toEqual({ startMs, endMs });
      expect(windowAt(window, timeZone, startMs)).toEqual({ startMs, endMs });
    }),
    { numRuns: 600 },
  );
});

test('a window begins at the first moment of its first day', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), WINDOW, MOMENT, (timeZone, window, nowMs) => {
      const { startMs } = windowAt(window, timeZone, nowMs);
      const first = firstDate(window, dateAt(timeZone, nowMs));
      // Yesterday's date can occur again; the calendar can omit a date.
      expect(dateAt(timeZone, startMs) >= first).toBe(true);
      expect(dateAt(timeZone, startMs - 1) < dateAt(timeZone, startMs)).toBe(true);
    }),
    { numRuns: 600 },
  );
});

test.each([
  ['day', 'Europe/Berlin', '2026-03-29T10:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
  ['day', 'Europe/Berlin', '2026-10-25T10:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  ['day', 'Asia/Kolkata', '2026-11-20T18:29Z', '2026-11-19T18:30Z', '2026-11-20T18:30Z'],
  ['week', 'America/New_York', '2026-11-01T12:00Z', '2026-10-26T04:00Z', '2026-11-02T05:00Z'],
  ['month', 'America/New_York', '2026-11-20T12:00Z', '2026-11-01T04:00Z', '2026-12-01T05:00Z'],
  ['month', 'Pacific/Kiritimati', '2026-12-31T10:00Z', '2026-12-31T10:00Z', '2027-01-31T10:00Z'],
  // Clocks jump from 23:59:59 to 01:00.
  ['day', 'Africa/Cairo', '2026-04-24T12:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
  // Clocks go from 24:00 back to 23:00: the day has 25 hours, and the next day begins once.
  ['day', 'Africa/Cairo', '2026-10-29T20:30Z', '2026-10-28T21:00Z', '2026-10-29T22:00Z'],
  // From 00:01 back to 23:01: the new day has begun, whatever the clocks show afterwards.
  ['day', 'America/St_Johns', '2010-11-07T02:45Z', '2010-11-07T02:30Z', '2010-11-08T03:30Z'],
  // December 30, 2011 was omitted.
  ['day', 'Pacific/Apia', '2011-12-30T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
] as const)('the %s in %s that holds %s', (window, timeZone, now, start, end) => {
  expect(windowAt(window, timeZone, Date.parse(now))).toEqual({ startMs: Date.parse(start), endMs: Date.parse(end) });
});

test('all time never ends', () => {
  expect(windowAt('total', 'UTC', 5)).toEqual({ startMs: 0, endMs: null });
});

test('an invalid time zone is named in the error', () => {
  expect(() => windowAt('day', 'Mars/Olympus', 0)).toThrow(
    'time zone: found "Mars/Olympus", expected an IANA name such as UTC or Europe/Berlin',
  );
});

test('a known window is returned without a calendar computation', () => {
  const nowMs = Date.UTC(2026, 10, 20);
  const first = windowAt('month', 'Europe/Berlin', nowMs);
  expect(windowAt('month', 'Europe/Berlin', nowMs + 1)).toBe(first);
});

test('the minute of a day is that of the clock, also after the clocks changed', () => {
  const at = (month: number, day: number, hour: number, minute = 0) =>
    minuteAt('Europe/Berlin', Date.UTC(2026, month - 1, day, hour, minute));
  // 2026-03-29 has 23 hours there, 2026-10-25 has 25.
  expect([at(3, 28, 21, 30), at(3, 29, 20, 30), at(10, 25, 21, 30)]).toEqual([1_350, 1_350, 1_350]);
  expect([at(3, 28, 23), at(3, 29, 22), at(10, 25, 23)]).toEqual([0, 0, 0]);
});
