/** Tests the text for caps and gauges. */
import { expect, test } from 'bun:test';
import { budgetText, gaugeAmount, gaugeName, ratesText, subjectName } from './caps-text.ts';

const NONE = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

test('formats rates in one line, or null without any', () => {
  expect(ratesText({ ...NONE, rpm: 60, tpm: 100_000, concurrency: 4 })).toBe('60 RPM · 100K TPM · 4 concurrent');
  expect(ratesText({ ...NONE, budget_usd: '5', budget_window: 'day' })).toBeNull();
});

test('formats a budget with its period', () => {
  expect(budgetText({ ...NONE, budget_usd: '1000', budget_window: 'month' })).toBe('$1,000.00 per month');
  expect(budgetText({ ...NONE, budget_usd: '0.5', budget_window: 'total' })).toBe('$0.50 total');
  expect(budgetText(NONE)).toBeNull();
});

test('names a gauge and formats its amounts', () => {
  expect(gaugeName({ sort: 'budget', window: 'week' })).toBe('Weekly budget');
  expect(gaugeName({ sort: 'tpm', window: null })).toBe('Tokens/min');
  expect(gaugeAmount('budget', '1230000000')).toBe('$1.23');
  expect(gaugeAmount('rpm', '1200')).toBe('1,200');
});

test('names the subject, and “this API key” on its own page', () => {
  expect(subjectName({ kind: 'key', id: 'key_1' }, 'key_1')).toBe('this API key');
  expect(subjectName({ kind: 'key', id: 'key_1' }, null)).toBe('API key key_1');
  expect(subjectName({ kind: 'workspace', id: 'key_1' }, 'key_1')).toBe('workspace key_1');
});
