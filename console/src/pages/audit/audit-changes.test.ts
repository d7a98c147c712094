/** Tests the changes of an audit entry, member by member. */
import { expect, test } from 'bun:test';
import { changesOf } from './audit-labels.ts';

test('lists only changed members', () => {
  expect(
    changesOf({
      before: { name: 'web', caps: { rpm: 60, tpm: null }, models: ['a'] },
      after: { name: 'web', caps: { rpm: 120, tpm: null }, models: ['a', 'b'] },
    }),
  ).toEqual([
    { member: 'caps.rpm', before: '60', after: '120' },
    { member: 'models', before: '["a"]', after: '["a","b"]' },
  ]);
});

test('an object that was empty before is its members', () => {
  expect(changesOf({ before: { tags: {} }, after: { tags: { team: 'web' } } })).toEqual([
    { member: 'tags.team', before: null, after: 'web' },
  ]);
});

test('a created target has no before, a deleted one no after', () => {
  expect(changesOf({ before: null, after: { name: 'web' } })).toEqual([{ member: 'name', before: null, after: 'web' }]);
  expect(changesOf({ before: { name: 'web', old: {} }, after: null })).toEqual([
    { member: 'name', before: 'web', after: null },
    { member: 'old', before: '{}', after: null },
  ]);
  expect(changesOf({ before: null, after: null })).toEqual([]);
});

test('distinguishes null, empty and missing values', () => {
  expect(changesOf({ before: { note: 'x', a: '' }, after: { note: null } })).toEqual([
    { member: 'note', before: 'x', after: 'null' },
    { member: 'a', before: '', after: null },
  ]);
});
