/** Tests which completions a caret in a query gets. */
import { expect, test } from 'bun:test';
import { completions, placeAt } from './complete-query.ts';

const at = (marked: string) => placeAt(marked.replace('|', ''), marked.indexOf('|'), 'calls');

test.each([
  ['|', { from: 0, to: 0, typed: '', field: null }],
  ['mo|', { from: 0, to: 2, typed: 'mo', field: null }],
  ['-mo|', { from: 1, to: 3, typed: 'mo', field: null }],
  ['model:|', { from: 6, to: 6, typed: '', field: 'model' }],
  ['model:gp|t status:5xx', { from: 6, to: 9, typed: 'gp', field: 'model' }],
  ['model:a,b|', { from: 8, to: 9, typed: 'b', field: 'model' }],
  ['key:"a,b|', { from: 4, to: 8, typed: 'a,b', field: 'key' }],
  ['model:a |', { from: 8, to: 8, typed: '', field: null }],
  ['nothing:x|', { from: 8, to: 9, typed: 'x', field: null }],
])('%s', (marked, place) => {
  expect(at(marked)).toEqual(place as ReturnType<typeof placeAt>);
});

test('fields are completed with the operator that they are mostly used with', () => {
  expect(completions(at('du|'), 'calls', null)).toEqual([{ text: 'duration>', label: 'duration', hint: 'Duration' }]);
  expect(completions(at('mod|'), 'calls', null)[0]?.text).toBe('model:');
});

test('values are those of the range with their numbers, or the choices of the field', () => {
  const known = [
    ['prod web', '1,200'],
    ['dev', '3'],
  ] as const;
  expect(completions(at('key:pro|'), 'calls', known)).toEqual([
    { text: '"prod web" ', label: 'prod web', hint: '1,200' },
  ]);
  expect(completions(at('stream:|'), 'calls', null).map(({ text }) => text)).toEqual(['yes ', 'no ']);
  expect(completions(at('status:5|'), 'calls', null).map(({ text }) => text)).toEqual(['5xx ']);
  expect(completions(at('cost:|'), 'calls', null)).toEqual([]);
});

test('the audit log has its own fields, and its values are found by their names too', () => {
  const place = placeAt('action:created', 14, 'audit');
  expect(place.field).toBe('action');
  expect(completions(place, 'audit', [['keys.create', 'Created key']])[0]?.text).toBe('keys.create ');
  expect(completions(placeAt('da', 2, 'audit'), 'audit', null)[0]?.text).toBe('date:');
  expect(placeAt('model:x', 7, 'audit').field).toBeNull();
});
