/** Tests which attempts of a record are compared with an export. */
import { expect, test } from 'bun:test';
import { parseConfigPrice } from '../billing/config-price.ts';
import { withMarkUp } from '../billing/price.ts';
import { costNanoUsd } from '../billing/price-book.ts';
import { ZERO_USAGE } from '../generation/usage.ts';
import type { CallRecord } from '../store/ports/records.ts';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { compareInvoice } from './compare.ts';
import { ownAttempts } from './own-attempts.ts';

const PRICE = parseConfigPrice({ input: 1, output: 4 });
const USAGE = { ...ZERO_USAGE, input: 900, output: 70 };
const DAY = '2026-11-20';

/** A batch as it is recorded once it has ended. */
function batch(changes: Partial<CallRecord> = {}): CallRecord {
  return sampleRecord('req_1', {
    protocol: 'batches',
    provider: 'lab',
    served_model: 'big',
    usage: USAGE,
    usage_source: 'upstream',
    price_version: withMarkUp(PRICE, 200_000).version,
    attempts: [],
    ...changes,
  });
}

const ownOf = (record: CallRecord) => ownAttempts(record, new Set(['lab']), () => DAY);

test('a batch, whose record has no attempts, is what its answers used', () => {
  const tokens = { input: 900, cache_read: 0, cache_write: 0, output: 70 };
  const cost = costNanoUsd(USAGE, PRICE);
  const own = ownOf(batch());
  expect(own).toMatchObject([{ model: 'big', tokens, cost, role: 'answered', isBatch: true, isEstimated: false }]);
  const line = { place: 1, day: DAY, atMs: null, model: 'big', requestId: null, requests: 30, tokens, tier: 'batch' };
  expect(compareInvoice([{ ...line, amount: cost * 1_000_000_000n }], own)).toMatchObject({
    findings: [],
    billed: cost,
    recorded: cost,
  });
});

test('of a batch without answers, or at another provider, there is nothing to compare', () => {
  expect(ownOf(batch({ usage: ZERO_USAGE, usage_source: 'void' }))).toEqual([]);
  expect(ownOf(batch({ provider: 'other' }))).toEqual([]);
});
