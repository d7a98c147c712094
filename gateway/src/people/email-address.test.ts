/** Tests which email addresses are equal, and which are refused because they only look equal. */
import { expect, test } from 'bun:test';
import { readEmail } from './email-address.ts';

test('case makes no difference', () => {
  expect(readEmail('Ada.K+x@Example.COM')).toBe('ada.k+x@example.com');
});

test.each([
  ['full-width letters', '\uFF41da@example.com'],
  ['a full-width sign', 'ada\uFF20example.com'],
  ['the Kelvin sign', 'ada@\u212Aexample.com'],
  ['a long s', 'ada@\u017Fexample.com'],
  ['a Cyrillic letter', '\u0430da@example.com'],
  ['a dotless i', 'ad\u0131@example.com'],
  ['a capital I with a dot', 'AD\u0130@example.com'],
  ['a combining mark', 'a\u0308da@example.com'],
  ['a zero-width space', 'ada\u200B@example.com'],
  ['an ideographic full stop', 'ada@example\u3002com'],
  ['a space', 'ada@example.com '],
  ['a line feed', 'ada@example.com\n'],
])('an address with %s is refused', (_name, address) => {
  expect(readEmail(address)).toBeNull();
});

test('a value that is not text is refused', () => {
  expect([undefined, null, 5, {}, ['ada@example.com'], ''].map(readEmail)).toEqual(Array(6).fill(null));
});
