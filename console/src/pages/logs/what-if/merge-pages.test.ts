/** Tests that the pages of a comparison add up. */
import { expect, test } from 'bun:test';
import { mergePages, type WhatIfPage } from './merge-pages.ts';

const page = (now: string, next: string | null, key = 'key_1'): WhatIfPage => {
  const sums = { requests: 2, now_nano_usd: now, then_nano_usd: '5' };
  return {
    model: 'other',
    provider: 'lab',
    price_version: 'config@1_1_1_1_1_1',
    ...sums,
    then_low_nano_usd: '4',
    then_high_nano_usd: '6',
    then_uncached_nano_usd: '7',
    then_reasoning_nano_usd: '1',
    reasoning_tokens: 3,
    tiered: 1,
    unpriced: 0,
    other_formats: 2,
    by_model: [{ model: null, ...sums }],
    by_key: [{ key, name: key, ...sums }],
    counted_from: next === null ? null : '2026-11-01T00:00:00.000Z',
    next,
  };
};

test('amounts add up without floats, groups by name, and the place is the last one', () => {
  expect(mergePages([])).toBeNull();
  const merged = mergePages([page('9007199254740993', 'req_2'), page('1', 'req_1', 'key_2'), page('10', null)]);
  expect(merged).toMatchObject({
    requests: 6,
    now_nano_usd: '9007199254741004',
    then_nano_usd: '15',
    then_low_nano_usd: '12',
    then_high_nano_usd: '18',
    then_uncached_nano_usd: '21',
    then_reasoning_nano_usd: '3',
    reasoning_tokens: 9,
    tiered: 3,
    unpriced: 0,
    other_formats: 6,
    counted_from: null,
    next: null,
    by_model: [{ model: null, requests: 6, now_nano_usd: '9007199254741004' }],
    by_key: [
      { key: 'key_1', requests: 4, now_nano_usd: '9007199254741003' },
      { key: 'key_2', requests: 2, now_nano_usd: '1' },
    ],
  });
});
