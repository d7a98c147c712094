/** Tests how days and instants are parsed. */
import { expect, test } from 'bun:test';
import { parseInstantMs } from './quantity.ts';

test.each([
  ['1970-01-01', 0],
  ['2026-12-01', Date.UTC(2026, 11, 1)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2026-12-01T08:30Z', Date.UTC(2026, 11, 1, 8, 30)],
  ['2026-12-01T08:30:15Z', Date.UTC(2026, 11, 1, 8, 30, 15)],
  ['2026-12-01T00:00+01:00', Date.UTC(2026, 10, 30, 23)],
  ['2026-12-01T00:00:00-05:30', Date.UTC(2026, 11, 1, 5, 30)],
])('%s is read', (text, expected) => expect(parseInstantMs(text)).toBe(expected));

test.each([
  '',
  'soon',
  '2026',
  '2026-12',
  '2026-13-01',
  '2026-00-01',
  '2026-02-29',
  '2026-11-31',
  '2026-12-00',
  '2026-12-01T08:00',
  '2026-12-01T24:00Z',
  '2026-12-01T08:60Z',
  '2026-12-01T08:00z',
  '2026-12-01 08:00Z',
  ' 2026-12-01',
  '2026-12-01\n',
  '20261201',
  '+002026-12-01',
  '1.12.2026',
])('%p is refused with the expected form', (text) => {
  expect(() => parseInstantMs(text)).toThrow('expected a day such as 2026-12-01, or a moment such as');
});
