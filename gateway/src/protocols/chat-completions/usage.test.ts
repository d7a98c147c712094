/** Tests of usage.ts: the counters are disjoint, and what does not hold is not billed as if it did. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UsageFlag } from '../../generation/usage.ts';
import { readToldUsage, readUsage } from './usage.ts';

const plain = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

describe('readUsage', () => {
  test('takes cache reads and writes out of the input', () => {
    const prompt_tokens_details = { cached_tokens: 60, cache_write_tokens: 30 };
    expect(readUsage({ ...plain, prompt_tokens_details })?.usage).toEqual({
      input: 10,
      cache_read: 60,
      cache_write_5m: 30,
      cache_write_1h: 0,
      output: 20,
      reasoning: 0,
    });
  });

  test.each(['prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'])(
    'finds the cache reads of hosts that call them %s',
    (name) => {
      expect(readUsage({ ...plain, [name]: 40 })?.usage).toMatchObject({ input: 60, cache_read: 40 });
    },
  );

  test('adds reasoning that the total shows to stand apart, and leaves reasoning that stands inside', () => {
    const completion_tokens_details = { reasoning_tokens: 15 };
    expect(readUsage({ ...plain, completion_tokens_details })?.usage).toMatchObject({ output: 20, reasoning: 15 });
    expect(readUsage({ ...plain, total_tokens: 135, completion_tokens_details })?.usage).toMatchObject({
      output: 35,
      reasoning: 15,
    });
  });

  test('adds reasoning that is more than the output where no total speaks against it', () => {
    const apart = { prompt_tokens: 100, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 30 } };
    expect(readUsage(apart)?.usage).toMatchObject({ output: 32, reasoning: 30 });
    expect(readUsage({ ...apart, total_tokens: 102 })?.usage).toMatchObject({ output: 2, reasoning: 2 });
  });

  test.each([
    [null],
    [undefined],
    ['usage'],
    [[plain]],
    [{}],
    [{ ...plain, prompt_tokens: -1 }],
    [{ ...plain, completion_tokens: 1.5 }],
    [{ ...plain, prompt_tokens: '100' }],
    [{ ...plain, completion_tokens: 2 ** 53 }],
    [{ ...plain, completion_tokens: 10_000_001 }],
    [{ prompt_tokens: 3 }],
  ])('gives nothing where a main counter does not hold: %j', (usage) => {
    expect(readUsage(usage)).toBeNull();
  });

  test('takes details that do not hold for absent', () => {
    const odd = {
      ...plain,
      prompt_tokens_details: { cached_tokens: -4, cache_write_tokens: 'x' },
      completion_tokens_details: [],
    };
    expect(readUsage(odd)?.usage).toMatchObject({ input: 100, cache_read: 0, output: 20, reasoning: 0 });
  });

  const reasoned = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } });
  test.each([
    [plain, []],
    [{ ...plain, total_tokens: null }, []],
    [{ ...plain, total_tokens: 121 }, ['sum']],
    [{ ...plain, total_tokens: 119, ...reasoned(5) }, ['sum']],
    [{ ...plain, total_tokens: 125, ...reasoned(5) }, []],
    [{ ...plain, total_tokens: 150, ...reasoned(30) }, []],
    [{ ...plain, ...reasoned(20) }, []],
    [{ ...plain, ...reasoned(21) }, ['reasoning']],
    [{ ...plain, total_tokens: null, ...reasoned(21) }, ['reasoning']],
    [{ ...plain, total_tokens: 1, ...reasoned(21) }, ['sum', 'reasoning']],
    [{ ...plain, cached_tokens: 100 }, []],
    [{ ...plain, cached_tokens: 101 }, ['cached']],
    [{ ...plain, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 41 } }, ['cached']],
  ])('says what is odd about %j: %p', (usage, flags) => {
    expect(readUsage(usage)?.flags).toEqual(flags as UsageFlag[]);
    expect(readToldUsage({ x_groq: { usage } })?.flags).toEqual(flags as UsageFlag[]);
  });

  test('gives counters that are whole, never negative, and sum to the prompt, whatever a host claims', () => {
    const count = fc.oneof(fc.nat(1_000_000), fc.integer(), fc.double(), fc.constant(null), fc.string());
    const usage = fc.record({
      prompt_tokens: fc.nat(1_000_000),
      completion_tokens: fc.nat(1_000_000),
      total_tokens: count,
      cached_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
      completion_tokens_details: fc.record({ reasoning_tokens: count }),
    });
    fc.assert(
      fc.property(usage, (given) => {
        const found = readUsage(given)?.usage;
        if (found === undefined) throw new Error('main counters hold, so usage must be found');
        expect(found.input + found.cache_read + found.cache_write_5m).toBe(given.prompt_tokens);
        expect(Object.values(found).every((value) => Number.isSafeInteger(value) && value >= 0)).toBe(true);
        expect(found.reasoning).toBeLessThanOrEqual(found.output);
        expect(found.output).toBeGreaterThanOrEqual(given.completion_tokens);
      }),
    );
  });
});
