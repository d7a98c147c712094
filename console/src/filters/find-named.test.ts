/** Tests how a typed name becomes the id that a filter uses. */
import { expect, test } from 'bun:test';
import { findNamed, unknownWords } from './find-named.ts';

const NAMES = [
  { value: 'key_1', label: 'prod web' },
  { value: 'key_2', label: 'prod batch' },
  { value: 'key_3', label: 'twin (key_3)' },
  { value: 'key_4', label: 'twin (key_4)' },
  { value: 'key_5', label: 'CI' },
];
const find = (text: string) => findNamed(text, NAMES, 'key_');

test('a name, in any case, or a part that only one name has, is found', () => {
  for (const text of ['prod web', 'Prod Web', 'web', 'key_1'])
    expect(find(text)).toEqual({ kind: 'found', value: 'key_1' });
  expect(find('twin (key_4)')).toEqual({ kind: 'found', value: 'key_4' });
});

test('an id that is in no list is taken as it is: its key may be gone', () => {
  expect(find('key_gone')).toEqual({ kind: 'found', value: 'key_gone' });
});

test('what several names have, or none, is not guessed', () => {
  expect(find('prod')).toEqual({ kind: 'unknown', near: ['prod web', 'prod batch'] });
  expect(find('twin')).toEqual({ kind: 'unknown', near: ['twin (key_3)', 'twin (key_4)'] });
  expect(find('staging')).toEqual({ kind: 'unknown', near: [] });
});

test('and is said with the nearest', () => {
  expect(unknownWords('Key', 'prod', ['prod web', 'prod batch'])).toBe(
    'Found no key named “prod”. Did you mean prod web, prod batch?',
  );
  expect(unknownWords('Member', 'x', [])).toBe('Found no member named “x”. Choose one from the list.');
});
