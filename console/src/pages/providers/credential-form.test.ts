/** Tests how the form of a credential is read, and which credentials share limits. */
import { describe, expect, test } from 'bun:test';
import { fieldsOf, findSharedLimits, listModels, NEW_FIELDS, parseSettings, weightError } from './credential-form.ts';

describe('the form of a credential', () => {
  test('has one model per line, and none means all', () => {
    expect(parseSettings(NEW_FIELDS)).toEqual({ weight: 1, organisation: null, models: null });
    expect(parseSettings({ weight: ' 0', organisation: ' acme ', models: ' a\n\nb\na ' })).toEqual({
      weight: 0,
      organisation: 'acme',
      models: ['a', 'b'],
    });
  });

  test('shows what it was saved with', () => {
    for (const settings of [
      { weight: 3, organisation: 'acme', models: ['a', 'b'] },
      { weight: 0, organisation: null, models: null },
    ]) {
      expect(parseSettings(fieldsOf(settings))).toEqual(settings);
    }
  });

  test.each([['0'], ['1'], [' 1000 ']])('takes the weight %j', (text) => {
    expect(weightError(text)).toBeNull();
  });

  test.each([[''], ['-1'], ['1.5'], ['1001'], ['x']])('refuses the weight %j', (text) => {
    expect(weightError(text)).toBe('Enter a whole number from 0 to 1000.');
  });
});

test('credentials of one organization, and those without one, share limits', () => {
  const credentials = [
    { name: 'a', organisation: 'acme' },
    { name: 'b', organisation: null },
    { name: 'c', organisation: 'acme' },
    { name: 'd', organisation: 'other' },
    { name: 'e', organisation: null },
  ];
  expect(findSharedLimits(credentials)).toEqual([
    ['a', 'c'],
    ['b', 'e'],
  ]);
  expect(findSharedLimits(credentials.slice(0, 2))).toEqual([]);
});

test('a long list of models is shortened', () => {
  expect(listModels(['a', 'b', 'c'])).toBe('a, b, c');
  expect(listModels(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
});
