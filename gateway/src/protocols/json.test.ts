/** Tests counts of server-side tool requests (known and unknown kinds, invalid numbers); and names. */
import { expect, test } from 'bun:test';
import { asName, readRequests, readServerToolUse } from './json.ts';

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

test('a name is cut where it is longer than any, without a half character', () => {
  expect(asName('')).toBeNull();
  expect(asName('n'.repeat(256))).toBe('n'.repeat(256));
  expect(asName('n'.repeat(300))).toBe('n'.repeat(256));
  expect(asName(`${'n'.repeat(255)}😀`)).toBe(`${'n'.repeat(255)}\ufffd`);
});
