/** Tests that one end user has one id, however a caller writes it. */
import { expect, test } from 'bun:test';
import { normalizeEndUser } from './end-user-id.ts';

test.each([
  ' bob',
  'bob ',
  '\u3000bob',
  'b\u200bob',
  '\ufeffbob',
  'bo\u2060b',
  'b\u00adob',
  'ｂｏｂ',
  '\u202ebob',
  'bo\u034fb',
])('%j is bob', (id) => expect(normalizeEndUser(id)).toBe('bob'));

test('different ids stay different, and an empty one is no id', () => {
  expect(['Bob', 'bob smith', 'bob@x', 'bøb', 'bob/1'].map(normalizeEndUser)).toEqual([
    'Bob',
    'bob smith',
    'bob@x',
    'bøb',
    'bob/1',
  ]);
  expect(['', ' ', '\u200b', '\u3000\ufeff'].map(normalizeEndUser)).toEqual([null, null, null, null]);
});
