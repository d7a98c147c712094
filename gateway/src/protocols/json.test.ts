/** Tests counts of server-side tool requests (known and unknown kinds, invalid numbers), lengths of texts, and names. */
import { expect, test } from 'bun:test';
import { asName, readRequests, readServerToolUse, textBytes } from './json.ts';

test('reads every kind that a host names, including counts of 0', () => {
  const given = { web_search_requests: 2, web_fetch_requests: 0, tool_search_requests: 1, note: 3, _requests: 4 };
  expect(readServerToolUse(given)).toEqual([
    ['web_search', 2],
    ['web_fetch', 0],
    ['tool_search', 1],
  ]);
});

test.each([[null], [undefined], [[]], ['web_search_requests'], [3]])('finds no account problem in %j', (given) => {
  expect(readServerToolUse(given)).toEqual([]);
});

test.each([[-1], [1.5], ['2'], [10_001], [null], [{}]])('takes %j requests for absent', (requests) => {
  expect(readServerToolUse({ web_search_requests: requests })).toEqual([]);
  expect(readRequests(requests)).toBeNull();
});

test('counts the text in an object of a million members', () => {
  const members = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, nth) => [`k${nth}`, 0]));
  expect(textBytes({ ...members, said: 'äb', list: ['c', { d: 'e' }] })).toBe(5);
});

test('a name is cut where it is longer than any, without a half character', () => {
  expect(asName('')).toBeNull();
  expect(asName('n'.repeat(256))).toBe('n'.repeat(256));
  expect(asName('n'.repeat(300))).toBe('n'.repeat(256));
  expect(asName(`${'n'.repeat(255)}😀`)).toBe(`${'n'.repeat(255)}\ufffd`);
});
