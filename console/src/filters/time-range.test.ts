/** Tests which time range an address selects. */
import { describe, expect, test } from 'bun:test';
import { rangeText, readRange } from './time-range.ts';

const NOW = Date.parse('2026-11-21T14:03:11.500Z');

describe('readRange', () => {
  test('a preset ends with the current minute and starts on a whole hour', () => {
    expect(readRange({ range: '24h' }, '7d', NOW)).toEqual({
      preset: '24h',
      from: '2026-11-20T14:00:00.000Z',
      to: '2026-11-21T14:04:00.000Z',
    });
  });
  test('the last hour starts on a whole minute', () => {
    expect(readRange({ range: '1h' }, '7d', NOW).from).toBe('2026-11-21T13:04:00.000Z');
  });
  test('a custom range overrides a preset', () => {
    const own = { range: '1h', from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };
    expect(readRange(own, '7d', NOW)).toEqual({
      preset: null,
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
    expect(readRange(search, '7d', NOW).preset).toBe('7d');
  });
});

describe('rangeText', () => {
  const evening = { from: '2026-11-01T03:30:00.000Z', to: '2026-11-01T04:30:00.000Z' };
  test('uses the zone, and one date if both times share it', () => {
    expect(rangeText(evening, 'Asia/Tokyo')).toBe('Nov 1, 12:30 – 13:30');
    expect(rangeText(evening, 'America/New_York')).toBe('Oct 31, 23:30 – Nov 1, 00:30');
  });
});
