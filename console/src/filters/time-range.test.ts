/** Tests which time range an address selects. */
import { describe, expect, test } from 'bun:test';
import { rangeText, readRange } from './time-range.ts';

const NOW = Date.parse('2026-11-21T14:03:11.500Z');

describe('readRange', () => {
  test('a preset ends with the current minute and starts on a whole hour', () => {
    expect(readRange({ range: '24h' }, '7d', NOW, 'UTC')).toEqual({
      preset: '24h',
      calendar: null,
      from: '2026-11-20T14:00:00.000Z',
      to: '2026-11-21T14:04:00.000Z',
    });
  });
  test('the last hour starts on a whole minute', () => {
    expect(readRange({ range: '1h' }, '7d', NOW, 'UTC').from).toBe('2026-11-21T13:04:00.000Z');
  });
  test('a custom range overrides a preset', () => {
    const own = { range: '1h', from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };
    expect(readRange(own, '7d', NOW, 'UTC')).toEqual({
      preset: null,
      calendar: null,
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-02T00:00:00.000Z',
    });
  });
  test.each([
    [{ range: 'century' }],
    [{ from: 'yesterday', to: '2026-11-02T00:00:00Z' }],
    [{ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }],
    [{ from: '2026-11-02T00:00:00Z' }],
  ])('%j is the usual range', (search: Record<string, string>) => {
    expect(readRange(search, '7d', NOW, 'UTC').preset).toBe('7d');
  });
});

// Saturday evening in UTC is Sunday morning in Tokyo.
test.each([
  ['today', '2026-11-21T15:00:00.000Z', '2026-11-21T20:04:00.000Z'],
  ['yesterday', '2026-11-20T15:00:00.000Z', '2026-11-21T15:00:00.000Z'],
  ['this_week', '2026-11-15T15:00:00.000Z', '2026-11-21T20:04:00.000Z'],
  ['last_week', '2026-11-08T15:00:00.000Z', '2026-11-15T15:00:00.000Z'],
  ['this_month', '2026-10-31T15:00:00.000Z', '2026-11-21T20:04:00.000Z'],
  ['last_month', '2026-09-30T15:00:00.000Z', '2026-10-31T15:00:00.000Z'],
] as const)('%s is a period of the zone', (calendar, from, to) => {
  const now = Date.parse('2026-11-21T20:03:11.500Z');
  expect(readRange({ range: calendar }, '7d', now, 'Asia/Tokyo')).toEqual({ preset: null, calendar, from, to });
});

test('a day of 25 hours and one that just began are whole', () => {
  const days = (range: string, now: string) => readRange({ range }, '7d', Date.parse(now), 'Europe/Berlin');
  expect(days('yesterday', '2026-10-26T12:00:00Z')).toMatchObject({
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T23:00:00.000Z',
  });
  const midnight = days('today', '2026-11-20T23:00:00.000Z');
  expect(Date.parse(midnight.to) - Date.parse(midnight.from)).toBe(60_000);
});

describe('rangeText', () => {
  const evening = { from: '2026-11-01T03:30:00.000Z', to: '2026-11-01T04:30:00.000Z' };
  test('uses the zone, and one date if both times share it', () => {
    expect(rangeText(evening, 'Asia/Tokyo')).toBe('Nov 1, 12:30 – 13:30');
    expect(rangeText(evening, 'America/New_York')).toBe('Oct 31, 23:30 – Nov 1, 00:30');
  });
});
