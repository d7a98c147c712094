/** Tests the figures of reconciliations. */
import { expect, test } from 'bun:test';
import { differencePercent, needsAttention } from './reconciliation.ts';

const amounts = (billed_nano_usd: string, recorded_nano_usd: string) => ({ billed_nano_usd, recorded_nano_usd });

test('differences are exact to a hundredth of a percent, and need attention above one percent', () => {
  for (const [billed, recorded, percent, isTooMuch] of [
    ['10000', '9900', '+1.00%', false],
    ['10000', '9899', '+1.01%', true],
    ['10000', '10101', '−1.01%', true],
    ['10000', '10000', '0.00%', false],
    ['0', '0', null, false],
    ['0', '1', null, true],
    ['9000000000000000000', '1', '+99.99%', true],
  ] as const) {
    expect([billed, recorded, differencePercent(amounts(billed, recorded))]).toEqual([billed, recorded, percent]);
    expect([billed, recorded, needsAttention(amounts(billed, recorded))]).toEqual([billed, recorded, isTooMuch]);
  }
});
