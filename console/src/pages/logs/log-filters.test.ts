/** Tests the query that an address of the logs page makes. */
import { expect, test } from 'bun:test';
import { readRange } from '../../filters/time-range.ts';
import { isFiltered, logQuery } from './log-filters.ts';

const NOW = Date.parse('2026-11-21T14:03:11Z');

test('a preset has no end, a custom range has one', () => {
  expect(logQuery({}, readRange({}, '24h', NOW, 'UTC'))).toEqual({ from: '2026-11-20T14:00:00.000Z' });
  const own = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-20T01:00:00.000Z' };
  expect(logQuery(own, readRange(own, '24h', NOW, 'UTC'))).toEqual(own);
});

test('trims a request id and omits impossible values', () => {
  const search = { q: ' req_1 ', outcome: 'sadness', protocol: 'chat', by: 'model' };
  expect(logQuery(search, readRange({}, '24h', NOW, 'UTC'))).toMatchObject({ q: 'req_1', protocol: 'chat' });
  expect(logQuery(search, readRange({}, '24h', NOW, 'UTC'))).not.toHaveProperty('outcome');
});

test('isFiltered ignores other parameters', () => {
  expect([isFiltered({ range: '7d', by: 'key' }), isFiltered({ q: 'x' }), isFiltered({ model: 'm' })]).toEqual([
    false,
    true,
    true,
  ]);
});

test('filters for missing end users and members, but not for missing outcomes', () => {
  const search = { without: 'end_user,outcome,member' };
  expect(logQuery(search, readRange({}, '24h', NOW, 'UTC'))).toMatchObject({ without: 'end_user,member' });
  expect(isFiltered(search)).toBe(true);
});
