/** Tests explanations of sums of days: by amounts alone, without requests, several at once, and what stays unexplained. */
import { describe, expect, test } from 'bun:test';
import { parseConfigPrice } from '../billing/config-price.ts';
import { costNanoUsd } from '../billing/price-book.ts';
import { compareInvoice } from './compare.ts';
import type { InvoiceLine, Tokens } from './invoice-line.ts';
import type { OwnAttempt } from './own-attempts.ts';

const PRICE = parseConfigPrice({ input: 1, output: 4 });
const DAY = '2026-11-20';
const NOON_MS = Date.UTC(2026, 10, 20, 12);
const tokens = (input: number, output: number): Tokens => ({ input, cache_read: 0, cache_write: 0, output });

function costOf({ input, output }: Tokens): bigint {
  return costNanoUsd({ input, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output, reasoning: 0 }, PRICE);
}

function own(n: number, changes: Partial<OwnAttempt> = {}): OwnAttempt {
  const used = tokens(100 + 7 * n * n, 10 + 3 * n);
  return {
    requestId: `req_${n}`,
    attempt: 1,
    atMs: NOON_MS,
    day: DAY,
    model: 'm',
    modelKey: 'm',
    upstreamRequestId: null,
    tokens: used,
    cost: costOf(used),
    role: 'answered',
    isEstimated: false,
    tier: null,
    isBatch: false,
    price: PRICE,
    ...changes,
  };
}

function sumOf(attempts: readonly OwnAttempt[]): Tokens {
  return attempts.reduce(
    (sum, { tokens: each }) => tokens(sum.input + each.input, sum.output + each.output),
    tokens(0, 0),
  );
}

function billed(changes: Partial<InvoiceLine>): InvoiceLine {
  const line = { place: 1, day: DAY, atMs: null, model: 'm', requestId: null, requests: null, tokens: null };
  return { ...line, amount: null, tier: null, ...changes };
}

const atto = (nano: bigint) => nano * 1_000_000_000n;
const causesOf = (lines: readonly InvoiceLine[], attempts: readonly OwnAttempt[]) =>
  compareInvoice(lines, attempts).findings.map(({ cause, requestId }) => `${cause} ${requestId ?? ''}`.trim());

const PLAIN = Array.from({ length: 6 }, (_, n) => own(n));
const LOST = own(50, { role: 'lost' });
const total = (attempts: readonly OwnAttempt[]) => attempts.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);

describe('an export with amounts only', () => {
  const day = (nano: bigint) => [billed({ amount: atto(nano) })];

  test('agrees where the amounts are equal', () => expect(causesOf(day(total(PLAIN)), PLAIN)).toEqual([]));

  test('names the attempts that make up the difference', () => {
    expect(causesOf(day(total([...PLAIN, LOST])), [...PLAIN, LOST])).toEqual(['retried_attempt req_50']);
    expect(causesOf(day(total(PLAIN) + (PLAIN[3]?.cost ?? 0n)), PLAIN)).toEqual(['double req_3']);
    expect(causesOf(day(total(PLAIN.slice(1))), PLAIN)).toEqual(['not_billed req_0']);
  });

  test('leaves a difference unexplained that nothing explains', () => {
    const { billed: all, recorded, explained } = compareInvoice(day(total(PLAIN) + 3n), PLAIN);
    expect([all - recorded, explained]).toEqual([3n, 0n]);
  });
});

describe('an export with tokens', () => {
  const day = (attempts: readonly OwnAttempt[], changes: Partial<InvoiceLine> = {}) => [
    billed({ requests: attempts.length, tokens: sumOf(attempts), ...changes }),
  ];

  test('names up to three attempts together', () => {
    const [first, second] = PLAIN;
    if (first === undefined || second === undefined) throw new Error('no attempts');
    const lines = day([...PLAIN.slice(1), second, LOST]);
    expect(causesOf(lines, [...PLAIN, LOST]).sort()).toEqual([
      'double req_1',
      'not_billed req_0',
      'retried_attempt req_50',
    ]);
  });

  test('needs no requests', () => {
    expect(causesOf(day([...PLAIN, LOST], { requests: null }), [...PLAIN, LOST])).toEqual(['retried_attempt req_50']);
  });

  test('compares batches by tokens alone', () => {
    const batch = own(9, { isBatch: true });
    expect(causesOf(day([...PLAIN, batch], { requests: 400 }), [...PLAIN, batch])).toEqual([]);
  });

  test('finds a price that differs, and one that is a tier’s', () => {
    const amounts = (over: bigint, under: bigint) => day(PLAIN, { amount: atto((total(PLAIN) * over) / under) });
    expect(causesOf(amounts(1n, 1n), PLAIN)).toEqual([]);
    expect(causesOf(amounts(2n, 1n), PLAIN)).toEqual(['wrong_tier']);
    expect(causesOf(amounts(6n, 5n), PLAIN)).toEqual(['price']);
  });

  test('a lost attempt with estimated usage explains one request more, whatever its tokens', () => {
    const guess = own(60, { role: 'lost', isEstimated: true });
    const real = { ...guess, tokens: tokens(guess.tokens.input, 999) };
    expect(causesOf(day([...PLAIN, real]), [...PLAIN, guess])[0]).toBe('retried_attempt req_60');
  });

  test('records of a model that the export does not have on a day are not billed', () => {
    const others = [own(20, { model: 'n', modelKey: 'n' }), own(21, { model: 'n', modelKey: 'n' })];
    const { findings, billed: all, recorded, explained } = compareInvoice(day(PLAIN), [...PLAIN, ...others]);
    expect(findings).toMatchObject([{ cause: 'not_billed', model: 'n', count: 2, amount: -total(others) }]);
    expect(all - recorded).toBe(explained);
  });

  test('a model that no record has is a missing call', () => {
    const lines = day([own(1)], { model: 'unknown-model' });
    expect(causesOf([...day(PLAIN), ...lines], PLAIN)).toEqual(['missing_call']);
  });
});

test('a request that the provider counts to the day after its own, which is not in the export, is explained', () => {
  const early = own(1, { day: '2026-11-19', atMs: NOON_MS - 13 * 3_600_000, upstreamRequestId: 'up_1' });
  const line = billed({ requestId: 'up_1', requests: 1, tokens: early.tokens, amount: atto(early.cost ?? 0n) });
  const { findings, days, billed: all, recorded, explained } = compareInvoice([line], [early]);
  expect(findings.map(({ cause, day }) => [cause, day])).toEqual([['other_day', DAY]]);
  expect(days.map(({ day }) => day)).toEqual([DAY]);
  expect([all - recorded, explained]).toEqual([early.cost ?? 0n, early.cost ?? 0n]);
});
