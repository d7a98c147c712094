/** Tests which attempts that did not answer a call cost the operator, and how much. */
import { describe, expect, test } from 'bun:test';
import { parseConfigPrice } from '../../billing/config-price.ts';
import { NO_FLAGS, type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { AttemptRecord } from '../../store/ports/records.ts';
import { openDesk } from '../testing/open-desk.ts';
import { routedCall } from '../testing/routed-call.ts';
import { type LostAttempt, noteLastAttempt, priceLostAttempt, wasRefused } from './lost-attempt.ts';

/** Input 2 nano-USD a token, output 3. */
const PRICE = parseConfigPrice({ input: '0.002', output: '0.003' });

function factsOf(changes: Partial<AnswerFacts>): AnswerFacts {
  const usage = { usage: null, usageFlags: NO_FLAGS, usageSoFar: null };
  const bytes = { outputBytes: 0, reasoningBytes: 0, outputBytesMax: 0 };
  return { ...usage, ...bytes, finish_reason: null, model: null, ...changes };
}

const usageOf = (input: number, output: number): Usage => ({ ...ZERO_USAGE, input, output });
const SENT: LostAttempt = { dispatched: true, refused: false, facts: null };

describe('an attempt that did not answer', () => {
  const call = () => routedCall({ price: PRICE, markUpPpm: 500_000, billing: openDesk().billing });

  test('costs nothing if it was not sent, or was refused', () => {
    expect(priceLostAttempt(call(), { ...SENT, dispatched: false })).toBeNull();
    expect(priceLostAttempt(call(), { ...SENT, refused: true })).toBeNull();
  });

  test('may cost its input and the output that was seen, without the mark-up of the account', () => {
    const expected = { billed: 'maybe', price_version: PRICE.version } as const;
    expect(priceLostAttempt(call(), SENT)).toEqual({ ...expected, usage: usageOf(100, 0), cost_nano_usd: '200' });
    const seen = { ...SENT, facts: factsOf({ outputBytes: 40 }) };
    expect(priceLostAttempt(call(), seen)).toEqual({ ...expected, usage: usageOf(100, 10), cost_nano_usd: '230' });
  });

  test('costs what the provider reported, refused or not', () => {
    const facts = factsOf({ usage: usageOf(70, 5), usageSoFar: usageOf(70, 1) });
    const cost = { billed: 'yes', usage: usageOf(70, 5), price_version: PRICE.version, cost_nano_usd: '155' } as const;
    expect(priceLostAttempt(call(), { ...SENT, facts })).toEqual(cost);
    expect(priceLostAttempt(call(), { ...SENT, refused: true, facts })).toEqual(cost);
  });

  test('may cost more than it reported, if it did not report its end', () => {
    const facts = factsOf({ usageSoFar: usageOf(70, 1), outputBytes: 40 });
    const cost = { usage: usageOf(70, 10), price_version: PRICE.version, cost_nano_usd: '170' };
    expect(priceLostAttempt(call(), { ...SENT, facts })).toEqual({ billed: 'maybe', ...cost });
  });

  test('at a target without a price has usage and no cost', () => {
    const unpriced = routedCall({ price: null, billing: openDesk().billing });
    expect(priceLostAttempt(unpriced, SENT)).toEqual({ billed: 'maybe', usage: usageOf(100, 0), cost_nano_usd: null });
  });
});

describe('the last attempt of a call that failed', () => {
  const FAILED = { provider: 'lab', model: 'm', status: 500, error: 'upstream_failed', connect_ms: 1, duration_ms: 9 };

  function noted(row: Partial<AttemptRecord>): AttemptRecord | undefined {
    const call = routedCall({ price: PRICE, billing: openDesk().billing });
    call.attempts.push({ ...FAILED, status: 503, connect_ms: null }, { ...FAILED, ...row });
    noteLastAttempt(call, null);
    expect(call.attempts[0]).toEqual({ ...FAILED, status: 503, connect_ms: null });
    return call.attempts[1];
  }

  test('is priced unless the provider refused it or never got it', () => {
    expect(noted({})).toMatchObject({ billed: 'maybe', cost_nano_usd: '200' });
    expect(noted({ status: null })).toMatchObject({ billed: 'maybe', cost_nano_usd: '200' });
    expect(noted({ status: 200, class: 'fault' })).toMatchObject({ billed: 'maybe', cost_nano_usd: '200' });
    const REFUSED = [
      { status: 200, class: 'overloaded' },
      { status: 503, class: 'fault' },
      { status: 408, class: 'fault' },
    ];
    for (const row of [{ connect_ms: null }, { status: 429 }, { status: 529 }, ...REFUSED])
      expect(noted(row)).not.toHaveProperty('billed');
  });

  test('is priced once', () => {
    const cost = { billed: 'yes', usage: usageOf(1, 1), price_version: PRICE.version, cost_nano_usd: '5' } as const;
    expect(noted(cost)).toEqual({ ...FAILED, ...cost });
  });
});

test('a refusal is a failure in which the provider made nothing', () => {
  const classes = ['unreached', 'reset', 'fault', 'overloaded', 'rate', 'timeout', 'quota', 'cut'];
  expect(classes.filter((one) => wasRefused({ class: one, status: null }))).toEqual(['overloaded', 'rate', 'quota']);
  const statuses = [200, 400, 408, 429, 499, 500, 502, 503, 504, 529];
  expect(statuses.filter((status) => wasRefused({ class: 'fault', status }))).toEqual([400, 408, 429, 499, 503, 529]);
});
