/** Tests how much a call holds, when a stream holds more, and that a hold covers every cost within its bounds. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { extrasOf } from '../generation/usage.ts';
import { parseConfigPrice } from './config-price.ts';
import { withMarkUp } from './price.ts';
import { costNanoUsd } from './price-book.ts';
import {
  chooseHold,
  costsOutput,
  type HoldRequest,
  holdUnmetered,
  nextSlice,
  OUTPUT_TOKENS_ASSUMED,
  OUTPUT_TOKENS_MAX,
  roomToMeter,
  SLICE_TOKENS,
} from './reserve.ts';

const PRICE = parseConfigPrice({
  input: 1,
  cache_write: 1.25,
  cache_write_1h: 2,
  cache_read: 0.1,
  output: 5,
  reasoning: 6,
});
const STREAM: HoldRequest = {
  mode: 'adaptive',
  stream: true,
  inputTokens: 1000,
  outputTokensMax: 64_000,
  price: PRICE,
};
const PLAIN: HoldRequest = { ...STREAM, stream: false };
/** 1,000 × 1.15 tokens at the highest input price, in nano-USD. */
const INPUT = 1150n * 2000n;

test.each([
  ['two first slices of a stream that may go beyond one', STREAM, 2n * (INPUT + 2048n * 6000n)],
  ['nothing of a stream that one slice covers', { ...STREAM, outputTokensMax: 2048 }, null],
  ['nothing of a plain call', PLAIN, null],
  ['nothing of a strict stream', { ...STREAM, mode: 'strict' } as const, null],
])('roomToMeter requires %s', (_, holdRequest, room) => {
  expect(roomToMeter(holdRequest, chooseHold(holdRequest))).toBe(room);
});

describe('holdUnmetered', () => {
  test.each([
    ['what the model may go on to', 1, 5_000, 4_999],
    ['what is assumed where nobody knows', 1, null, OUTPUT_TOKENS_ASSUMED - 1],
    ['nothing where more is held already', 9_000, 5_000, 0],
  ])('adds %s', (_, covered, most, added) => {
    const { amount, outputTokens, extendAtTokens } = holdUnmetered(PLAIN, covered, most);
    expect([amount, outputTokens, extendAtTokens]).toEqual([BigInt(added) * 6000n, covered + added, null]);
  });
});

test('costsOutput: whether any token of output costs something, in any tier', () => {
  expect(costsOutput(PRICE)).toBe(true);
  expect(costsOutput(parseConfigPrice('free'))).toBe(false);
  expect(costsOutput(parseConfigPrice({ input: 1, output: 0 }))).toBe(false);
  const tiers = [{ above: 1000, input: 1, output: 2 }];
  expect(costsOutput(parseConfigPrice({ input: 1, output: 0, tiers }))).toBe(true);
});

describe('chooseHold', () => {
  test('holds for a stream its input and one slice of output, at the dearest prices', () => {
    expect(chooseHold(STREAM)).toEqual({ amount: INPUT + 2048n * 6000n, outputTokens: 2048, extendAtTokens: 1536 });
  });

  test.each([
    ['a plain call', PLAIN, null],
    ['a strict stream, and meters what goes beyond it', { ...STREAM, mode: 'strict' } as const, 80_001],
  ])('holds for %s the worst case', (_, holdRequest, extendAtTokens) => {
    expect(chooseHold(holdRequest)).toEqual({ amount: INPUT + 64_000n * 6000n, outputTokens: 64_000, extendAtTokens });
  });

  test.each([
    [0, 0, 1],
    [1, 1, 2],
    [2047, 2047, 2559],
    [2048, 2048, 2561],
    [2049, 2048, 1536],
  ])('holds for a stream of max_tokens %d no more than that', (outputTokensMax, outputTokens, extendAtTokens) => {
    expect(chooseHold({ ...STREAM, outputTokensMax })).toMatchObject({ outputTokens, extendAtTokens });
  });

  test('assumes a maximum where none is known, and none above what models produce', () => {
    expect(chooseHold({ ...PLAIN, outputTokensMax: null }).outputTokens).toBe(OUTPUT_TOKENS_ASSUMED);
    const absurd = { ...PLAIN, outputTokensMax: Number.MAX_SAFE_INTEGER };
    expect(chooseHold(absurd).outputTokens).toBe(OUTPUT_TOKENS_MAX);
  });

  test('is at the prices of the tier that the input may reach, also where a shorter one is dearer', () => {
    const tiers = [
      { above: 1100, input: 3, output: 20 },
      { above: 1149, input: 4, output: 10 },
      { above: 1150, input: 90, output: 90 },
    ];
    const price = parseConfigPrice({ input: 1, output: 5, tiers });
    expect(chooseHold({ ...STREAM, price }).amount).toBe(1150n * 4000n + 2048n * 20_000n);
  });

  test('rounds the margin of the estimate up to a token', () => {
    expect(chooseHold({ ...STREAM, inputTokens: 1 }).amount).toBe(2n * 2000n + 2048n * 6000n);
    expect(chooseHold({ ...STREAM, inputTokens: 100 }).amount).toBe(115n * 2000n + 2048n * 6000n);
  });

  test('includes the mark-up, and rounds up', () => {
    const price = withMarkUp(PRICE, 200_000);
    expect(chooseHold({ ...STREAM, price }).amount).toBe(((INPUT + 2048n * 6000n) * 6n) / 5n);
    const least = parseConfigPrice({ input: '0.000001', output: 0 });
    expect(chooseHold({ ...STREAM, inputTokens: 1, price: least }).amount).toBe(1n);
    expect(chooseHold({ ...STREAM, price: parseConfigPrice('free') }).amount).toBe(0n);
  });

  test('uses the prices of audio and images only for calls that send or request them', () => {
    const price = parseConfigPrice({ input: 1, output: 5, audio_input: 40, image_input: 3, audio_output: 80 });
    const held = (mediaInput: boolean, mediaOutput: boolean) =>
      chooseHold({ ...STREAM, price, extras: { mediaInput, mediaOutput, toolRequests: new Map() } }).amount;
    expect(chooseHold({ ...STREAM, price }).amount).toBe(1150n * 1000n + 2048n * 5000n);
    expect(held(false, false)).toBe(1150n * 1000n + 2048n * 5000n);
    expect(held(true, false)).toBe(1150n * 40_000n + 2048n * 5000n);
    expect(held(true, true)).toBe(1150n * 40_000n + 2048n * 80_000n);
    const spoken = { ...STREAM, price, extras: { mediaInput: true, mediaOutput: true, toolRequests: new Map() } };
    expect(nextSlice(spoken, 2048, 1536)?.amount).toBe(2048n * 80_000n);
  });

  test('holds the fees of the tools that are declared, once, and the dearest class of hosts that charge each call', () => {
    const fees = { web_search: 10, web_fetch: 0, search_low: 5, search_high: 12 };
    const extras = {
      mediaInput: false,
      mediaOutput: false,
      toolRequests: new Map([
        ['web_search', 4],
        ['bash', 9],
      ]),
    };
    const amount = (per_1000_requests: Record<string, number>, holdRequest: Partial<HoldRequest>) =>
      chooseHold({ ...STREAM, price: parseConfigPrice({ input: 1, output: 5, per_1000_requests }), ...holdRequest })
        .amount;
    const text = amount({}, {});
    expect(amount({ web_search: 10 }, {}) - text).toBe(0n);
    expect(amount({ web_search: 10 }, { extras }) - text).toBe(40_000_000n);
    expect(amount(fees, {}) - text).toBe(12_000_000n);
    expect(amount(fees, { extras }) - text).toBe(52_000_000n);
    const price = withMarkUp(parseConfigPrice({ input: 0, output: 0, per_1000_requests: fees }), 500_000);
    expect(chooseHold({ ...STREAM, price, extras }).amount).toBe(78_000_000n);
  });

  test.each([
    [{ inputTokens: -1 }, 'hold inputTokens: found -1, expected a whole number of tokens, 0 or more'],
    [{ inputTokens: 1.5 }, 'hold inputTokens: found 1.5'],
    [{ outputTokensMax: Number.NaN }, 'hold outputTokensMax: found NaN'],
  ])('refuses %p', (wrong, message) => {
    expect(() => chooseHold({ ...STREAM, ...wrong })).toThrow(message);
  });

  test('lets thirty agents stream with max_tokens 64k on 25 USD', () => {
    const price = parseConfigPrice({ input: 3, cache_write: 3.75, cache_write_1h: 6, cache_read: 0.3, output: 15 });
    const hold = chooseHold({ ...STREAM, inputTokens: 60_000, price });
    expect(hold.amount * 30n).toBeLessThan(25_000_000_000n);
  });
});

describe('nextSlice', () => {
  test('is due at three quarters of each slice, not a token before', () => {
    expect(nextSlice(STREAM, 2048, 1535)).toBeNull();
    expect(nextSlice(STREAM, 2048, 1536)).toEqual({ amount: 2048n * 6000n, outputTokens: 4096, extendAtTokens: 3584 });
    expect(nextSlice(STREAM, 4096, 3583)).toBeNull();
    expect(nextSlice(STREAM, 4096, 3584)?.outputTokens).toBe(6144);
  });

  test('ends with the requested output', () => {
    const holdRequest = { ...STREAM, outputTokensMax: 3000 };
    expect(nextSlice(holdRequest, 2048, 1600)).toEqual({
      amount: 952n * 6000n,
      outputTokens: 3000,
      extendAtTokens: 3751,
    });
    expect(nextSlice(holdRequest, 3000, 3000)).toBeNull();
  });

  test('continues if upstream exceeds the requested output by more than our count may be wrong', () => {
    const holdRequest = { ...STREAM, outputTokensMax: 3000 };
    expect(nextSlice(holdRequest, 3000, 3750)).toBeNull();
    expect(nextSlice(holdRequest, 3000, 3751)?.outputTokens).toBe(5048);
    expect(nextSlice(holdRequest, 5048, 4535)).toBeNull();
    expect(nextSlice(holdRequest, 5048, 4536)?.outputTokens).toBe(7096);
    expect(nextSlice(holdRequest, OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX)).toBeNull();
  });

  test('is never due of a plain call', () => {
    expect(nextSlice(PLAIN, 2048, 1_000_000)).toBeNull();
  });

  test('a strict stream needs one only if its upstream exceeds the requested output', () => {
    const strict = { ...STREAM, mode: 'strict', outputTokensMax: 2048 } as const;
    expect(nextSlice(strict, 2048, 2048)).toBeNull();
    expect(nextSlice(strict, 2048, 2560)).toBeNull();
    expect(nextSlice(strict, 2048, 2561)).toMatchObject({ amount: 2048n * 6000n, outputTokens: 4096 });
  });

  test('stays ahead of any stream, is requested only when due, and grows by whole slices', () => {
    const bursts = fc.array(fc.nat(9000), { maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(fc.nat(200_000), bursts, (outputTokensMax, grown) => {
        const holdRequest = { ...STREAM, outputTokensMax };
        let slice = chooseHold(holdRequest);
        let held = slice.amount;
        let produced = 0;
        for (const burst of grown) {
          produced += burst;
          const next = nextSlice(holdRequest, slice.outputTokens, produced);
          expect(next !== null).toBe(slice.extendAtTokens !== null && produced >= slice.extendAtTokens);
          if (next === null) continue;
          const added = next.outputTokens - slice.outputTokens;
          expect(added > 0 && (added % SLICE_TOKENS === 0 || next.outputTokens === outputTokensMax)).toBe(true);
          expect(next.amount).toBe(BigInt(added) * 6000n);
          slice = next;
          held += next.amount;
          expect(next.extendAtTokens === null || produced < next.extendAtTokens).toBe(true);
        }
        expect(held).toBe(INPUT + BigInt(slice.outputTokens) * 6000n);
      }),
    );
  });
});

test('a hold covers the cost of any call whose input was estimated at most 15% too low', () => {
  const rate = fc.nat(99_999_999).map((millionths) => `${millionths / 1e6 < 1e-6 ? 0 : (millionths / 1e6).toFixed(6)}`);
  const rates = fc.record({
    input: rate,
    output: rate,
    cache_read: rate,
    cache_write_5m: rate,
    cache_write_1h: rate,
    reasoning: rate,
    audio_input: rate,
    audio_cache_read: rate,
    audio_output: rate,
    image_input: rate,
    image_output: rate,
    cache_write_30m: rate,
  });
  const fee = fc.nat(1000);
  const anyExtras = fc.record({
    media: fc.boolean(),
    tools: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(20)),
  });
  const shares = fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000));
  const ppm = fc.integer({ min: -1_000_000, max: 2_000_000 });
  fc.assert(
    fc.property(
      rates,
      rates,
      fc.integer({ min: 1, max: 20_000 }),
      ppm,
      fc.nat(20_000),
      shares,
      fc.nat(5000),
      fc.nat(5000),
      fc.record({ a: fee, b: fee }),
      anyExtras,
      (base, tier, above, markUp, inputTokens, parts, output, thought, per_1000_requests, { media, tools }) => {
        const price = withMarkUp(parseConfigPrice({ ...base, tiers: [{ above, ...tier }], per_1000_requests }), markUp);
        const toolRequests = new Map(Object.entries(tools));
        const extras = { mediaInput: media, mediaOutput: media, toolRequests };
        const hold = chooseHold({ mode: 'strict', stream: true, inputTokens, outputTokensMax: output, price, extras });
        const most = Math.ceil((inputTokens * 115) / 100);
        const [input, cache_read, cache_write_5m, cache_write_1h] = parts.map((part) =>
          Math.floor((most * part) / 4000),
        );
        const counters = {
          input: input ?? 0,
          cache_read: cache_read ?? 0,
          cache_write_5m: cache_write_5m ?? 0,
          cache_write_1h: cache_write_1h ?? 0,
          output,
          reasoning: Math.min(thought, output),
        };
        const half = (whole: number) => (media ? Math.floor(whole / 2) : 0);
        const found = extrasOf(
          {
            audio_input: half(counters.input),
            image_input: half(counters.input),
            audio_cache_read: half(counters.cache_read),
            audio_output: half(output - counters.reasoning),
            image_output: half(output - counters.reasoning),
            cache_write_30m: Math.floor(counters.cache_write_5m / 2),
          },
          toolRequests,
        );
        const usage = found === undefined ? counters : { ...counters, extras: found };
        expect(costNanoUsd(usage, price)).toBeLessThanOrEqual(hold.amount);
      },
    ),
  );
});
