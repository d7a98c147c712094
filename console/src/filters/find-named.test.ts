/** Tests how a typed name becomes the id that a filter uses. */
import { expect, test } from 'bun:test';
import { findNamed, unknownText } from './add-filter.tsx';

const NAMES = [
  { value: 'key_1', label: 'prod web' },
  { value: 'key_2', label: 'prod batch' },
  { value: 'key_3', label: 'twin (key_3)' },
  { value: 'key_4', label: 'twin (key_4)' },
  { value: 'key_5', label: 'CI' },
];
const find = (text: string) => findNamed(text, NAMES, 'key_');

test('finds a name in any case, or by a unique part', () => {
  for (const text of ['prod web', 'Prod Web', 'web', 'key_1'])
    expect(find(text)).toEqual({ kind: 'found', value: 'key_1' });
  expect(find('twin (key_4)')).toEqual({ kind: 'found', value: 'key_4' });
});

test('accepts an unlisted id, whose key may be deleted', () => {
  expect(find('key_gone')).toEqual({ kind: 'found', value: 'key_gone' });
});

test('doesn’t guess ambiguous or unknown names', () => {
  expect(find('prod')).toEqual({ kind: 'unknown', near: ['prod web', 'prod batch'] });
  expect(find('twin')).toEqual({ kind: 'unknown', near: ['twin (key_3)', 'twin (key_4)'] });
  expect(find('staging')).toEqual({ kind: 'unknown', near: [] });
});

test('suggests the nearest names', () => {
  expect(unknownText('API key', 'prod', ['prod web', 'prod batch'])).toBe(
    'No API key is named “prod”. Did you mean prod web, prod batch?',
  );
  expect(unknownText('Member', 'x', [])).toBe('No member is named “x”. Choose one from the list.');
});
