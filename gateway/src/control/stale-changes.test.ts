/** Tests how a refused change says what another user changed meanwhile. */
import { expect, test } from 'bun:test';
import { explainStale } from './policy-changes.ts';

const THREE = ['a', 'b', 'c'];

test.each([
  [['a'], ['a', 'b'], 'added b'],
  [THREE, [], 'removed a, b, c'],
  [[], [...THREE, 'd', 'e'], 'added a, b, c and 2 more'],
  [['a', 'b'], ['b', 'c'], 'added c, and removed a'],
  [['a', 'b'], ['b', 'a'], 'now in another order'],
  [[{ provider: 'p', weight: 1 }], [{ provider: 'p', weight: 2 }], 'changed p'],
  [[{ provider: 'p', model: 'm' }], [{ name: 'n', provider: 'p' }], 'added n, and removed p/m'],
  [['a'], null, 'now not set'],
  ['x', '', 'now not set'],
  [null, ['a'], 'now ["a"]'],
  ['x', 'y', 'now y'],
])('%j that became %j', (read, now, what) => {
  expect(explainStale('it', { list: now }, { list: read })).toStartWith(
    `Another user changed the list of it meanwhile (${what}), so nothing was saved.`,
  );
});

test('members that were not read, or are as they were, refuse nothing', () => {
  const now = { list: ['a'], other: 1, gone: undefined };
  expect(explainStale('it', now)).toBeNull();
  expect(explainStale('it', now, { list: ['a'], gone: null })).toBeNull();
});
