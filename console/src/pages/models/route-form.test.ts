/** Tests that the form of a model's targets keeps what it does not show, and what it sends. */
import { describe, expect, test } from 'bun:test';
import { faultsOf, fieldsOf, moveUp, newTarget, parseTargets, type RouteView, withStrategy } from './route-form.ts';

const TARGET = { provider: 'lab', model: 'small', priority: 1, weight: null, max_concurrency: 8, tags: ['eu'] };
const route = (definition: RouteView['definition']) => ({ targets: [TARGET], definition }) as unknown as RouteView;

describe('the targets of a route', () => {
  test('are as they were entered, with what the form does not show', () => {
    const targets = [
      { provider: 'a', name: 'main', weight: 0, timeouts: { connect: '1s' }, price: 'free' as const },
      { provider: 'b', model: 'm', priority: 2, max_concurrency: 4, tags: ['eu', 'zdr'] },
    ];
    expect(parseTargets(fieldsOf(route({ targets })))).toEqual(targets);
  });

  test('are as they are served where none were entered', () => {
    expect(parseTargets(fieldsOf(route(null)))).toEqual([
      { provider: 'lab', model: 'small', max_concurrency: 8, tags: ['eu'] },
    ]);
  });

  test('get a further one with an id of its own', () => {
    const rows = fieldsOf(route(null));
    const added = newTarget(rows, 'b');
    expect(rows.map(({ id }) => id)).not.toContain(added.id);
    expect(faultsOf(added)).toEqual({});
    expect(parseTargets([{ ...added, tags: ' eu, zdr ', weight: ' 3 ' }])).toEqual([
      { provider: 'b', weight: 3, tags: ['eu', 'zdr'] },
    ]);
  });

  test('change places', () => {
    const rows = ['a', 'b', 'c'].map((provider, id) => ({ ...newTarget([], provider), id }));
    expect(parseTargets(moveUp(rows, 2)).map(({ provider }) => provider)).toEqual(['a', 'c', 'b']);
  });

  test('are checked by field', () => {
    const row = newTarget([], 'b');
    const wrong = { ...row, priority: '0', weight: '1001', maxConcurrency: '0' };
    expect(Object.keys(faultsOf(wrong))).toEqual(['priority', 'weight', 'maxConcurrency']);
    expect(faultsOf({ ...row, priority: '', weight: 'x', maxConcurrency: '1.5' })).toEqual(faultsOf(wrong));
  });
});

test('a changed strategy keeps the other members of the routing', () => {
  const before = { strategy: 'order', hedge: 'on' };
  expect(withStrategy(before, 'latency')).toEqual({ strategy: 'latency', hedge: 'on' });
  expect(withStrategy(before, '')).toEqual({ hedge: 'on' });
  expect(withStrategy({ strategy: 'order' }, '')).toBeNull();
  expect(withStrategy(undefined, 'weight')).toEqual({ strategy: 'weight' });
});
