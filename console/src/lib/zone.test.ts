/** Tests the local time of a zone, and the instant of a local time, across clock changes. */
import { describe, expect, test } from 'bun:test';
import { clockZone, exactTime, instantOf, timeTitle, wallTime } from './zone.ts';

const NEW_YORK = 'America/New_York';

test('formats a time in the zone', () => {
  expect(exactTime('2026-11-01T03:30:00Z', NEW_YORK)).toBe('Oct 31, 2026, 23:30:00');
  expect(exactTime('2026-11-01T03:30:00Z', 'Asia/Tokyo')).toBe('Nov 1, 2026, 12:30:00');
});

test('a tooltip has the time with its zone, and in UTC', () => {
  expect(timeTitle('2026-11-01T03:30:00Z', NEW_YORK)).toBe(
    'Oct 31, 2026, 23:30:00 (America/New_York)\nNov 1, 2026, 03:30:00 (UTC)',
  );
  expect(timeTitle('2026-11-01T03:30:00Z', 'UTC')).toBe('Nov 1, 2026, 03:30:00 (UTC)');
});

test('times follow the viewer’s choice, else the account', () => {
  const browser = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect([null, 'browser', 'Asia/Tokyo', 'Mars/Base'].map((chosen) => clockZone(chosen, NEW_YORK))).toEqual([
    NEW_YORK,
    browser,
    'Asia/Tokyo',
    NEW_YORK,
  ]);
});

describe('instantOf', () => {
  test.each([
    ['2026-07-01T00:00', NEW_YORK, '2026-07-01T04:00:00.000Z'],
    ['2026-12-01T00:00', NEW_YORK, '2026-12-01T05:00:00.000Z'],
    ['2026-12-01T09:15', 'Asia/Kolkata', '2026-12-01T03:45:00.000Z'],
    ['2026-12-01T00:00', 'Pacific/Kiritimati', '2026-11-30T10:00:00.000Z'],
  ])('%s in %s is %s, and back', (wall, zone, iso) => {
    expect(instantOf(wall, zone)?.toISOString()).toBe(iso);
    expect(wallTime(iso, zone)).toBe(wall);
  });
  test('picks the first instant of a repeated time', () => {
    expect(instantOf('2026-11-01T01:30', NEW_YORK)?.toISOString()).toBe('2026-11-01T05:30:00.000Z');
  });
  test('a skipped midnight is the instant of the clock change', () => {
    expect(instantOf('2026-09-06T00:00', 'America/Santiago')?.toISOString()).toBe('2026-09-06T04:00:00.000Z');
  });
  test.each([[''], ['2026-11-01'], ['tomorrow'], ['2026-13-01T00:00']])('%p isn’t a time', (text) => {
    expect(instantOf(text, NEW_YORK)).toBeNull();
  });
});
