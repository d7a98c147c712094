/** Tests how a price is completed and marked up, which tier applies, and that its version text restores all of it. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EXTRA_COUNTERS } from '../generation/usage.ts';
import { formatUsdPerThousand } from './money.ts';
import {
  chooseRates,
  fillPrice,
  MARK_UP_PPM_MAX,
  MARK_UP_PPM_MIN,
  PRICE_MEMBERS,
  type PriceMember,
  parseFees,
  parsePriceVersion,
  withMarkUp,
} from './price.ts';

describe('fillPrice', () => {
  test('prices missing counters as input or output, never 0', () => {
    expect(fillPrice({ input: 3n, output: 15n }, 'x')).toMatchObject({
      cache_read: 3n,
      cache_write_5m: 3n,
      cache_write_1h: 3n,
      reasoning: 15n,
    });
  });

  test('prices a missing 1-hour cache write as the 5-minute one', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_write_5m: 4n }, 'x').cache_write_1h).toBe(4n);
  });

  test('prices a missing 5-minute cache write as input though the 1-hour one is given', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_write_1h: 6n }, 'x').cache_write_5m).toBe(3n);
  });

  test('prices audio and images like their totals, and cached audio as audio if caches have no price', () => {
    expect(fillPrice({ input: 3n, output: 15n }, 'x')).toMatchObject({
      audio_input: 3n,
      audio_cache_read: 3n,
      audio_output: 15n,
      image_input: 3n,
      image_output: 15n,
      cache_write_30m: 3n,
    });
    expect(fillPrice({ input: 3n, output: 15n, audio_input: 40n }, 'x').audio_cache_read).toBe(40n);
    expect(fillPrice({ input: 3n, output: 15n, audio_input: 40n, cache_read: 1n }, 'x').audio_cache_read).toBe(1n);
  });

  test('keeps a price of 0 that was given', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_read: 0n }, 'x').cache_read).toBe(0n);
  });
});

describe('chooseRates', () => {
  const tiers = [
    { inputTokensAbove: 100, input: 2n, output: 20n },
    { inputTokensAbove: 200, input: 3n, output: 30n },
  ];
  const price = fillPrice({ input: 1n, output: 10n }, 'x', tiers);

  test.each([
    [0, 1n],
    [99, 1n],
    [100, 1n],
    [101, 2n],
    [200, 2n],
    [201, 3n],
    [Number.MAX_SAFE_INTEGER, 3n],
  ])('%d tokens of input get the tier whose bound they exceed', (tokens, input) => {
    expect(chooseRates(price, tokens).input).toBe(input);
  });
});

describe('withMarkUp', () => {
  const price = fillPrice({ input: 3n, output: 15n }, 'x');

  test('changes the version and no rate; none at all changes nothing', () => {
    expect(withMarkUp(price, 200_000)).toEqual({
      ...price,
      markUpPpm: 200_000n,
      version: `${price.version};+200000ppm`,
    });
    expect(withMarkUp(price, -5).version).toBe(`${price.version};-5ppm`);
    expect(withMarkUp(price, 0)).toBe(price);
  });

  test.each([0.5, Number.NaN, MARK_UP_PPM_MIN - 1, MARK_UP_PPM_MAX + 1])('refuses %p ppm', (ppm) => {
    expect(() => withMarkUp(price, ppm)).toThrow(`mark-up: found ${ppm} ppm, expected a whole number from -1000000`);
  });

  test('refuses a second mark-up', () => {
    expect(() => withMarkUp(withMarkUp(price, 1), 1)).toThrow('has one already, expected a list price');
  });
});

describe('parsePriceVersion', () => {
  test('every price can be restored from its version, with tiers and markup, for any model name', () => {
    const rate = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
    const members = [...PRICE_MEMBERS, ...EXTRA_COUNTERS].map((member) => [member, rate]);
    const published = fc.record(Object.fromEntries(members) as { [Member in PriceMember]: typeof rate }, {
      requiredKeys: ['input', 'output'],
    });
    const kind = fc.stringMatching(/^[a-z][a-z0-9_]{0,39}$/);
    const fees = fc.dictionary(kind, fc.bigInt({ min: 0n, max: 1_000_000_000n }).map(formatUsdPerThousand), {
      maxKeys: 3,
    });
    const bounds = fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 3 });
    const ppm = fc.integer({ min: MARK_UP_PPM_MIN, max: MARK_UP_PPM_MAX });
    fc.assert(
      fc.property(published, bounds, published, ppm, fc.string(), fees, (base, above, tier, markUp, id, written) => {
        const tiers = above
          .sort((one, other) => one - other)
          .map((inputTokensAbove) => ({ ...tier, inputTokensAbove }));
        const origin = `catalog:2026-11-20/openai/${id}`;
        const price = withMarkUp(fillPrice(base, origin, tiers, parseFees(written)), markUp);
        expect(parsePriceVersion(price.version)).toEqual(price);
      }),
    );
  });

  test('reads a text of before there were tiers and mark-ups', () => {
    expect(parsePriceVersion('config@1_0.1_1_1_5_5')).toMatchObject({
      input: 1_000_000n,
      audio_input: 1_000_000n,
      audio_cache_read: 100_000n,
      tiers: [],
      fees: new Map(),
      markUpPpm: 0n,
    });
  });

  test.each([
    '',
    'config',
    '@1_1_1_1_1_1',
    'config@1_1_1_1_1',
    'config@1_1_1_1_1_1_1',
    'config@1_1_1_1_1_1;',
    'config@1_1_1_1_1_1;search=10',
    'config@1_1_1_1_1_1;Search=10/1000',
    'config@1_1_1_1_1_1;search=10/1000;search=10/1000',
    'config@1_1_1_1_1_1;search=10/1000;>200=1_1_1_1_1_1',
    'config@1_1_1_1_1_1;+5ppm;search=10/1000',
    'config@1_1_1_1_1_1,',
    'config@1_1_1_1_1_1,smell=1',
    'config@1_1_1_1_1_1,input=1',
    'config@1_1_1_1_1_1,audio_input=1=1',
    'config@1_1_1_1_1_1,audio_input=1,audio_input=1',
    'config@1_1_1_1_1_1;>200=1_1_1_1_1',
    'config@1_1_1_1_1_1;>0=1_1_1_1_1_1',
    'config@1_1_1_1_1_1;>10000000000000000=1_1_1_1_1_1',
    'config@1_1_1_1_1_1;+0ppm',
    'config@1_1_1_1_1_1;5ppm',
    'config@1_1_1_1_1_1;-1000001ppm',
    'config@1_1_1_1_1_1;+5ppm;+5ppm',
    'config@1_1_1_1_1_1;+5ppm;>200=1_1_1_1_1_1',
  ])('refuses %p', (version) => {
    expect(() => parsePriceVersion(version)).toThrow(`price_version: found ${JSON.stringify(version)}`);
  });

  test('names the member that is not a number', () => {
    expect(() => parsePriceVersion('config@1_1_1_1_x_1')).toThrow('output: found "x"');
  });

  test('refuses tiers that do not ascend', () => {
    const tier = ';>200=1_1_1_1_1_1';
    expect(() => parsePriceVersion(`config@1_1_1_1_1_1${tier}${tier}`)).toThrow('a tier above 200, expected');
  });
});
