/** Tests the query that an address of the usage page makes. */
import { describe, expect, test } from 'bun:test';
import { filtersOf, pickedFilters, readMetric, readUsageView, shownView, usageQuery } from './usage-query.ts';

const NOW = Date.parse('2026-11-21T14:03:11Z');

describe('readUsageQuery', () => {
  test('an empty address means cost by model for seven days', () => {
    expect(readUsageView({}, NOW, 'UTC')).toMatchObject({
      metric: 'cost',
      by: ['model'],
      isCompared: false,
      table: 'groups',
    });
    expect(readUsageView({}, NOW, 'UTC').range.preset).toBe('7d');
  });
  test('unknown values become defaults, and dimensions don’t repeat', () => {
    expect(readUsageView({ metric: 'fame', by: 'colour', and: 'model', at: 'p99' }, NOW, 'UTC')).toMatchObject({
      metric: 'cost',
      percentile: 'p50',
      by: ['model'],
    });
  });
  test('two dimensions', () => {
    expect(readUsageView({ by: 'key', and: 'model' }, NOW, 'UTC').by).toEqual(['key', 'model']);
  });
});

test('filters are dimensions, and a protocol must be known', () => {
  expect(filtersOf({ model: 'm', by: 'key', protocol: 'smtp' })).toEqual({ model: 'm' });
  expect(filtersOf({ protocol: 'chat' })).toEqual({ protocol: 'chat' });
});

test('the query lists dimensions with commas', () => {
  const search = { by: 'key', and: 'model', workspace: 'w' };
  expect(usageQuery(readUsageView(search, NOW, 'UTC'), search)).toMatchObject({ by: 'key,model', workspace: 'w' });
});

test.each(['cost', 'tokens', 'latency', 'ttft'] as const)('%s is requested and recognized in the reply', (metric) => {
  const view = readUsageView({ metric, at: 'p95' }, NOW, 'UTC');
  const chosen = readMetric(view);
  expect(chosen).toBe(metric === 'latency' ? 'latency_p95' : metric === 'ttft' ? 'ttfb_p95' : metric);
  expect(shownView(view, { metric: chosen })).toEqual(view);
});

test('draws the previous metric until the next reply arrives', () => {
  const view = readUsageView({ metric: 'errors', at: 'p50' }, NOW, 'UTC');
  expect(shownView(view, { metric: 'ttfb_p95' })).toMatchObject({ metric: 'ttft', percentile: 'p95' });
});

test('selects a group by its values and missing values', () => {
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
