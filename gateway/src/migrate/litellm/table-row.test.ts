/** Tests the reading of columns as PostgreSQL and JSON write them. */
import { describe, expect, test } from 'bun:test';
import { planCaps, windowOf } from './caps.ts';
import { createNotes } from './notes.ts';
import { ColumnError, flagOf, listOf, objectOf, parseRoundedUsd, timeOf, wholeOf } from './table-row.ts';

describe('columns', () => {
  test('amounts are exact, and rounded half up to a nano-dollar', () => {
    for (const [text, nano] of [
      ['0', 0n],
      ['12.5', 12_500_000_000n],
      ['1e-05', 10_000n],
      ['4.5e-10', 0n],
      ['5e-10', 1n],
      ['0.0000000015', 2n],
      ['1.2345678901234567', 1_234_567_890n],
      ['1E3', 1_000_000_000_000n],
    ] as const) {
      expect([text, parseRoundedUsd(text, 'spend')]).toEqual([text, nano]);
    }
    for (const text of ['-1', 'NaN', 'Infinity', '1e99', '', '1,5', '.']) {
      expect(() => parseRoundedUsd(text, 'spend')).toThrow(ColumnError);
    }
  });

  test('lists are read from both forms', () => {
    for (const value of ['{a,"b, c","d\\"e"}', '["a","b, c","d\\"e"]', ['a', 'b, c', 'd"e']]) {
      expect(listOf({ models: value }, 'models')).toEqual(['a', 'b, c', 'd"e']);
    }
    for (const value of ['{}', '[]', '', null]) expect(listOf({ models: value }, 'models')).toEqual([]);
    expect(() => listOf({ models: 'gpt' }, 'models')).toThrow('models: found "gpt", expected a list of texts');
  });

  test('times without a zone are UTC', () => {
    const atMs = Date.UTC(2026, 10, 23, 8, 0, 1, 250);
    for (const text of ['2026-11-23 08:00:01.25', '2026-11-23T08:00:01.250000', '2026-11-23 10:00:01.25+02']) {
      expect([text, timeOf({ at: text }, 'at')]).toEqual([text, atMs]);
    }
    expect(() => timeOf({ at: 'yesterday' }, 'at')).toThrow('at: found');
  });

  test('flags, numbers and objects', () => {
    expect(['t', 'true', true, 'f', null].map((blocked) => flagOf({ blocked }, 'blocked'))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect([wholeOf({ n: '60' }, 'n'), wholeOf({ n: null }, 'n')]).toEqual([60, null]);
    expect(() => wholeOf({ n: '1.5' }, 'n')).toThrow('expected a whole number');
    expect([objectOf({ m: '{"a":1}' }, 'm'), objectOf({ m: '{}' }, 'm')]).toEqual([{ a: '1' }, null]);
  });
});

describe('budgets', () => {
  test('windows that both have are the same; others are stricter, and the report says so', () => {
    const windows = ['1d', '24h', '7d', '1w', '30d', '1mo', '12h', '3d', '14d', '90d', 'soon'];
    const found = windows.map((duration) => [duration, windowOf(duration).window, windowOf(duration).change === null]);
    expect(found).toEqual([
      ['1d', 'day', true],
      ['24h', 'day', true],
      ['7d', 'week', true],
      ['1w', 'week', true],
      ['30d', 'month', true],
      ['1mo', 'month', true],
      ['12h', 'day', false],
      ['3d', 'week', false],
      ['14d', 'month', false],
      ['90d', 'total', false],
      ['soon', 'total', false],
    ]);
  });

  test('own limits come before those of the budget table, and a budget that was reset has no spend', () => {
    const notes = createNotes();
    const row = { spend: '3', rpm_limit: '5', budget_reset_at: '2026-11-01 00:00:00' };
    const budget = { max_budget: '10', rpm_limit: '9', tpm_limit: '0', budget_duration: '30d' };
    const about = { name: 'k', nowMs: Date.UTC(2026, 10, 23), notes };
    expect(planCaps(row, budget, about)).toEqual({
      caps: { rpm: 5, budget_usd: '10', budget_window: 'month' },
      spend: { spent_usd: null, spent_window: 'month' },
      isBlocked: true,
    });
    expect(notes.list()).toMatchObject([{ what: 'spend', names: ['k'] }]);
  });
});
