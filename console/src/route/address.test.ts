/** Tests which page an address selects, and that addresses are read as they are written. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fillPath, matchPath, readSearch, searchText } from './address.ts';

const PATTERNS = ['/app', '/app/keys', '/app/keys/$key', '/app/logs/{-$request}'];

test('matches an address by its segments, with or without a trailing slash', () => {
  expect(matchPath(PATTERNS, '/app')?.pattern).toBe('/app');
  expect(matchPath(PATTERNS, '/app/')?.pattern).toBe('/app');
  expect(matchPath(PATTERNS, '/app/keys')?.pattern).toBe('/app/keys');
  expect(matchPath(PATTERNS, '/app/keys/k1')).toEqual({ pattern: '/app/keys/$key', names: { key: 'k1' } });
});

test('names an optional segment where present', () => {
  expect(matchPath(PATTERNS, '/app/logs')).toEqual({ pattern: '/app/logs/{-$request}', names: {} });
  expect(matchPath(PATTERNS, '/app/logs/req_1')?.names).toEqual({ request: 'req_1' });
});

test.each(['/', '/apps', '/app/nothing', '/app/keys/k1/more', '/app/logs/req_1/more'])('%s matches no page', (path) => {
  expect(matchPath(PATTERNS, path)).toBeNull();
});

test('leaves an invalid encoding unchanged', () => {
  expect(matchPath(PATTERNS, '/app/keys/100%')?.names).toEqual({ key: '100%' });
});

test('any name survives filling and matching', () => {
  const names = fc.string({ minLength: 1 }).filter((name) => name.isWellFormed());
  fc.assert(
    fc.property(names, (key) => {
      expect(matchPath(PATTERNS, fillPath('/app/keys/$key', { key }))?.names).toEqual({ key });
    }),
  );
});

test('throws if a required name is missing', () => {
  expect(fillPath('/app/logs/{-$request}', {})).toBe('/app/logs');
  expect(() => fillPath('/app/keys/$key', {})).toThrow('the address /app/keys/$key needs a key');
});

test('parameters are text, and empty ones are omitted', () => {
  expect(searchText({ from: '{"a":1}', to: undefined, key: '' })).toBe('?from=%7B%22a%22%3A1%7D');
  expect(searchText({})).toBe('');
  expect(readSearch('?from=%7B%22a%22%3A1%7D&n=1')).toEqual({ from: '{"a":1}', n: '1' });
});
