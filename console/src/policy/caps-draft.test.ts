/** Tests that caps are read back as displayed, and the message for those that cannot be read. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Caps, changedCaps, draftCaps, readCaps } from './caps-draft.ts';

const cap = fc.option(fc.integer({ min: 1, max: 1_000_000_000 }));
const budget = fc.option(
  fc.tuple(
    fc.constantFrom('0.5', '12', '999999999.999999999'),
    fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'total' as const),
  ),
);

describe('caps draft', () => {
  test('round-trips caps', () => {
    fc.assert(
      fc.property(cap, cap, cap, budget, (rpm, tpm, concurrency, money) => {
        const caps: Caps = {
          rpm,
          tpm,
          concurrency,
          budget_usd: money?.[0] ?? null,
          budget_window: money?.[1] ?? null,
        };
        expect(readCaps(draftCaps(caps))).toEqual({ value: caps });
      }),
    );
  });

  test('ignores separators and a dollar sign', () => {
    expect(
      readCaps({ rpm: ' 1,200 ', tpm: '2 000 000', concurrency: '', budget: '$1,250.50', window: 'week' }),
    ).toEqual({
      value: { rpm: 1200, tpm: 2_000_000, concurrency: null, budget_usd: '1250.50', budget_window: 'week' },
    });
  });

  test('reads no decimal comma as thousands', () => {
    const read = readCaps({ rpm: '1,5', tpm: '', concurrency: '', budget: '12,50', window: 'week' });
    expect(Object.keys('faults' in read ? read.faults : {}).sort()).toEqual(['caps.budget_usd', 'caps.rpm']);
  });

  test('drops a period without a budget', () => {
    expect(readCaps({ rpm: '', tpm: '', concurrency: '', budget: ' ', window: 'day' })).toEqual({
      value: { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null },
    });
  });

  test('reports invalid numbers by member with the typed text', () => {
    const read = readCaps({ rpm: '0', tpm: '1.5', concurrency: '1000000001', budget: '-3', window: 'month' });
    expect('faults' in read && Object.keys(read.faults)).toEqual([
      'caps.budget_usd',
      'caps.rpm',
      'caps.tpm',
      'caps.concurrency',
    ]);
    expect('faults' in read && read.faults['caps.tpm']).toContain('“1.5”');
  });
});

test('sends only changed caps, and a budget with its period', () => {
  const opened: Caps = { rpm: 5, tpm: null, concurrency: 2, budget_usd: '12.50', budget_window: 'month' };
  expect(changedCaps(opened, opened)).toEqual({});
  expect(changedCaps(opened, { ...opened, rpm: null })).toEqual({ caps: { rpm: null } });
  expect(changedCaps(opened, { ...opened, budget_usd: '7' })).toEqual({
    caps: { budget_usd: '7', budget_window: 'month' },
  });
  expect(changedCaps(opened, { ...opened, budget_usd: null, budget_window: null })).toEqual({
    caps: { budget_usd: null, budget_window: null },
  });
});
