/** Tests the text for caps and gauges. */
import { expect, test } from 'bun:test';
import { budgetWords, gaugeAmount, gaugeName, rateWords, whoseWords } from './caps-words.ts';

const NONE = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

test('the rates of a rule in one line, and nothing where there is none', () => {
  expect(rateWords({ ...NONE, rpm: 60, tpm: 100_000, concurrency: 4 })).toBe('60 rpm · 100K tpm · 4 at once');
  expect(rateWords({ ...NONE, budget_usd: '5', budget_window: 'day' })).toBeNull();
});

test('a budget with its window', () => {
  expect(budgetWords({ ...NONE, budget_usd: '1000', budget_window: 'month' })).toBe('$1,000.00 each month');
  expect(budgetWords({ ...NONE, budget_usd: '0.5', budget_window: 'total' })).toBe('$0.50 in total');
  expect(budgetWords(NONE)).toBeNull();
});

test('a gauge is named by what it measures, in its own unit', () => {
  expect(gaugeName({ sort: 'budget', window: 'week' })).toBe('Budget of the week');
  expect(gaugeName({ sort: 'tpm', window: null })).toBe('Tokens a minute');
  expect(gaugeAmount('budget', '1230000000')).toBe('$1.23');
  expect(gaugeAmount('rpm', '1200')).toBe('1,200');
});

test('a rule is of its subject by name, and of this key on its own page', () => {
  expect(whoseWords({ kind: 'key', id: 'key_1' }, 'key_1')).toBe('this key');
  expect(whoseWords({ kind: 'key', id: 'key_1' }, null)).toBe('key key_1');
  expect(whoseWords({ kind: 'workspace', id: 'key_1' }, 'key_1')).toBe('workspace key_1');
});
