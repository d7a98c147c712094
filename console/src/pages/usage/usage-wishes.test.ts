/** Shows what an address of the usage page asks for. */
import { describe, expect, test } from 'bun:test';
import { filtersOf, pickedFilters, readWishes, usageQuery } from './usage-wishes.ts';

const NOW = Date.parse('2026-11-21T14:03:11Z');

describe('readWishes', () => {
  test('an empty address is the cost by model of seven days', () => {
    expect(readWishes({}, NOW)).toMatchObject({ metric: 'cost', by: ['model'], isCompared: false, table: 'groups' });
    expect(readWishes({}, NOW).range.preset).toBe('7d');
  });
  test('what is not known is its default, and nothing is grouped by the same twice', () => {
    expect(readWishes({ metric: 'fame', by: 'colour', and: 'model', at: 'p99' }, NOW)).toMatchObject({
      metric: 'cost',
      percentile: 'p50',
      by: ['model'],
    });
  });
  test('two dimensions', () => {
    expect(readWishes({ by: 'key', and: 'model' }, NOW).by).toEqual(['key', 'model']);
  });
});

test('only dimensions are filters, and a protocol is one of two', () => {
  expect(filtersOf({ model: 'm', by: 'key', protocol: 'smtp' })).toEqual({ model: 'm' });
  expect(filtersOf({ protocol: 'chat' })).toEqual({ protocol: 'chat' });
});

test('the query names dimensions by commas', () => {
  const search = { by: 'key', and: 'model', workspace: 'w' };
  expect(usageQuery(readWishes(search, NOW), search)).toMatchObject({ by: 'key,model', workspace: 'w' });
});

test('a group is picked by its values, and by what it has none of', () => {
  const search = { without: 'session', model: 'm' };
  const picked = pickedFilters(search, ['member', 'end_user'], { values: [null, null] });
  expect(picked).toEqual({ member: undefined, end_user: undefined, without: 'session,member,end_user' });
  expect(pickedFilters(search, ['session', 'model'], { values: ['s', null] })).toEqual({
    session: 's',
    model: undefined,
    without: 'model',
  });
  expect(filtersOf({ ...search, without: 'session,member,key' })).toEqual({ model: 'm', without: 'session,member' });
});
