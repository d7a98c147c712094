/** Checks that a cost is the exact sum of counters times prices, rounded once. */
import { describe, expect, test } from 'bun:test';
import { type Usage, ZERO_USAGE } from '../generation/usage.ts';
import { costNanoUsd } from './cost.ts';
import { FREE_PRICE, PRICE_MEMBERS, parseConfigPrice } from './price.ts';

const usage = (counters: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...counters });

/** xorshift32: the same numbers on every run and machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

describe('costNanoUsd', () => {
  test('bills each counter at its own price', () => {
    const price = parseConfigPrice({
      input: 1,
      cache_read: 0.1,
      cache_write_5m: 1.25,
      cache_write_1h: 2,
      output: 5,
      reasoning: 7,
    });
    const cost = (counters: Partial<Usage>) => costNanoUsd(usage(counters), price);
    expect(cost({ input: 1000 })).toBe(1_000_000n);
    expect(cost({ cache_read: 1000 })).toBe(100_000n);
    expect(cost({ cache_write_5m: 1000 })).toBe(1_250_000n);
    expect(cost({ cache_write_1h: 1000 })).toBe(2_000_000n);
    expect(cost({ output: 1000 })).toBe(5_000_000n);
    expect(cost({ output: 1000, reasoning: 400 })).toBe(600n * 5000n + 400n * 7000n);
  });

  test('counts reasoning within output, not beside it', () => {
    const price = parseConfigPrice({ input: 1, output: 5 });
    expect(costNanoUsd(usage({ output: 1000, reasoning: 1000 }), price)).toBe(
      costNanoUsd(usage({ output: 1000 }), price),
    );
  });

  test.each([
    ['0.000499', 0n],
    ['0.0005', 1n],
    ['0.001499', 1n],
    ['0.0015', 2n],
  ])('rounds one token at %s USD per million half up', (input, nano) => {
    expect(costNanoUsd(usage({ input: 1 }), parseConfigPrice({ input, output: 0 }))).toBe(nano);
  });

  test('rounds once for the call, not once per counter', () => {
    const price = parseConfigPrice({ input: '0.0004', output: '0.0004' });
    expect(costNanoUsd(usage({ input: 1, output: 1 }), price)).toBe(1n);
  });

  test('costs nothing without tokens, or at the price free', () => {
    expect(costNanoUsd(ZERO_USAGE, parseConfigPrice({ input: 1, output: 1 }))).toBe(0n);
    expect(costNanoUsd(usage({ input: 9e9, output: 9e9 }), FREE_PRICE)).toBe(0n);
  });

  test('stays exact at the largest counters', () => {
    const price = parseConfigPrice({ input: 1_000_000, output: 0.000001 });
    const most = Number.MAX_SAFE_INTEGER;
    expect(costNanoUsd(usage({ input: most }), price)).toBe(BigInt(most) * 1_000_000_000n);
    expect(costNanoUsd(usage({ output: most }), price)).toBe((BigInt(most) + 500n) / 1000n);
  });

  test.each<[Partial<Usage>, string]>([
    [{ input: -1 }, 'usage input: found -1, expected a whole number of tokens, 0 or more'],
    [{ cache_read: 1.5 }, 'usage cache_read: found 1.5'],
    [{ cache_write_5m: Number.NaN }, 'usage cache_write_5m: found NaN'],
    [{ cache_write_1h: 2 ** 53 }, 'usage cache_write_1h: found 9007199254740992'],
    [{ output: 1, reasoning: 2 }, 'usage output - reasoning: found -1'],
    [{ output: 1, reasoning: -1 }, 'usage reasoning: found -1'],
  ])('refuses to bill %j', (counters, message) => {
    expect(() => costNanoUsd(usage(counters), parseConfigPrice({ input: 1, output: 1 }))).toThrow(message);
  });

  test('agrees with exact fractions over 100,000 random calls, and in their sum', () => {
    const random = randomNumbers(20261120);
    let billed = 0n;
    let exact = 0n;
    let ties = 0;
    for (let call = 0; call < 100_000; call++) {
      const written = PRICE_MEMBERS.map(() => [random(100), random(1_000_000)] as const);
      const text = (member: number) => `${written[member]?.[0]}.${String(written[member]?.[1]).padStart(6, '0')}`;
      const price = parseConfigPrice({
        input: text(0),
        cache_read: text(1),
        cache_write_5m: text(2),
        cache_write_1h: text(3),
        output: text(4),
        reasoning: text(5),
      });
      const plain = random(200_000);
      const reasoning = random(50_000);
      const counts = [random(2_000_000), random(1_000_000), random(90_000), random(90_000), plain, reasoning];
      const [input = 0, cache_read = 0, cache_write_5m = 0, cache_write_1h = 0] = counts;
      const nano = costNanoUsd(
        { input, cache_read, cache_write_5m, cache_write_1h, output: plain + reasoning, reasoning },
        price,
      );
      // USD × 10¹²: dollars and millionths of the price text, apart from the parser under test.
      const pico = counts.reduce((sum, count, member) => {
        const [dollars = 0, millionths = 0] = written[member] ?? [];
        return sum + BigInt(count) * (BigInt(dollars) * 1_000_000n + BigInt(millionths));
      }, 0n);
      const error = nano * 1000n - pico;
      if (error <= -500n || error > 500n) throw new Error(`call ${call}: ${nano} nano for ${pico} pico`);
      if (error === 500n) ties++;
      billed += nano;
      exact += pico;
    }
    expect(ties).toBeGreaterThan(0);
    const drift = billed * 1000n - exact;
    expect(drift < 0n ? -drift : drift).toBeLessThanOrEqual(500n * 100_000n);
  });
});
