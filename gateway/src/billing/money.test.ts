/** Tests that money is parsed and formatted exactly, and what is refused as a price. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatNanoUsd, formatUsdPerMillion, PriceError, parseUsd, parseUsdPerMillion } from './money.ts';

const parse = (written: string | number) => parseUsdPerMillion(written, 'input');

describe('parseUsdPerMillion', () => {
  test.each([
    ['0', 0n],
    ['0.000001', 1n],
    ['0.25', 250_000n],
    ['.5', 500_000n],
    ['5.', 5_000_000n],
    ['2e-1', 200_000n],
    ['1.5E+2', 150_000_000n],
    ['0.2500000000', 250_000n],
    ['007', 7_000_000n],
    ['1000000', 1_000_000_000_000n],
  ])('reads %s exactly', (written, price) => {
    expect(parse(written)).toBe(price);
  });

  test.each([
    [0.1, 100_000n],
    [0.000001, 1n],
    [1.005, 1_005_000n],
    [2, 2_000_000n],
    [-0, 0n],
    [1e-6, 1n],
  ])('takes the number %p by its shortest text', (written, price) => {
    expect(parse(written)).toBe(price);
  });

  test.each(['', ' ', '.', '-1', '+1', '1,5', '1_000', '0x10', 'NaN', 'Infinity', '1 ', '1e', 'e5', '1e9999', '１'])(
    'refuses %p and says what it wants',
    (written) => {
      expect(() => parse(written)).toThrow(
        `input: found ${JSON.stringify(written)}, expected a decimal number of USD per million tokens, 0 or more, such as 0.25`,
      );
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -0.5])('refuses the number %p', (written) => {
    expect(() => parse(written)).toThrow(`input: found ${written}, expected a decimal number`);
  });

  test.each(['0.0000001', '1.2345678', '1e-7', 1e-7, 1e-300])('refuses %p: finer than 6 decimal places', (written) => {
    expect(() => parse(written)).toThrow('expected at most 6 decimal places');
  });

  test.each(['1000000.000001', '1e300', 1e21])('refuses %p: above one USD per token', (written) => {
    expect(() => parse(written)).toThrow('expected at most 1000000 USD per million tokens; is it in another unit?');
  });

  test('shows only the head of a long text', () => {
    const thrown = (() => {
      try {
        parse('9'.repeat(100_000));
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(PriceError);
    expect(String(thrown).length).toBeLessThan(250);
  });

  test('is the inverse of formatUsdPerMillion', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1_000_000_000_000n }), (price) => {
        expect(parse(formatUsdPerMillion(price))).toBe(price);
      }),
    );
  });
});

describe('formatNanoUsd', () => {
  test.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [12_300n, '0.0000123'],
    [1_000_000_000n, '1'],
    [10_500_000_000n, '10.5'],
    [-500_000_000n, '-0.5'],
    [9_223_372_036_854_775_807n, '9223372036.854775807'],
  ])('writes %p as %s', (amount, text) => {
    expect(formatNanoUsd(amount)).toBe(text);
  });

  test('keeps every nano-dollar of any amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (amount) => {
        const text = formatNanoUsd(amount);
        const [whole = '', fraction = ''] = text.replace('-', '').split('.');
        const size = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
        expect(text.startsWith('-') ? -size : size).toBe(amount);
        expect(text).toMatch(/^-?(0|[1-9][0-9]*)(\.[0-9]{0,8}[1-9])?$/);
      }),
    );
  });
});

describe('parseUsd', () => {
  test.each([
    ['0', 0n],
    ['10', 10_000_000_000n],
    ['0.000000001', 1n],
    ['.5', 500_000_000n],
    ['1e-9', 1n],
    ['0.0000000010', 1n],
    ['9000000000', 9_000_000_000_000_000_000n],
  ])('reads %p as %p', (written, amount) => {
    expect(parseUsd(written, 'usd')).toBe(amount);
  });

  test.each([
    ['', 'usd: found "", expected a decimal number of USD, 0 or more, such as 0.25'],
    ['-1', 'found "-1", expected a decimal number of USD'],
    ['1,5', 'found "1,5"'],
    ['0x10', 'found "0x10"'],
    ['NaN', 'found "NaN"'],
    ['0.0000000001', 'expected at most 9 decimal places'],
    ['9000000000.000000001', 'expected at most 9000000000 USD'],
    ['1e999', 'expected at most 9000000000 USD'],
    ['1e-999', 'expected at most 9 decimal places'],
  ])('refuses %p', (written, message) => {
    expect(() => parseUsd(written, 'usd')).toThrow(PriceError);
    expect(() => parseUsd(written, 'usd')).toThrow(message);
  });

  test('undoes formatNanoUsd', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_000_000_000n * 10n ** 9n }), (amount) => {
        expect(parseUsd(formatNanoUsd(amount), 'usd')).toBe(amount);
      }),
    );
  });
});
