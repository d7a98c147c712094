/** Tests that amounts of money are read to the last nano-dollar, and that a proposed id is valid. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exactUsd } from '../../lib/money.ts';
import { proposeId, readUsd } from './account.ts';

test('parses an amount to the nano-dollar', () => {
  expect(readUsd('$1,250.5')).toEqual({ usd: '1250.5', nanoUsd: 1_250_500_000_000n });
  expect(readUsd(' 0.000000001 ')?.nanoUsd).toBe(1n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (nanoUsd) => {
      expect(readUsd(exactUsd(nanoUsd.toString()))?.nanoUsd).toBe(nanoUsd);
    }),
  );
});

test.each(['', '-5', '12,50', '1.250,00', '1,0000', '1 2', '1.0000000001', '1e3', '1000000000', '.5', 'ten'])(
  'rejects %j',
  (text) => {
    expect(readUsd(text)).toBeNull();
  },
);

test.each([
  ['Café Müller & Co.', 'cafe-muller-co'],
  ['  ACME  2 ', 'acme-2'],
  ['北京', ''],
  ['', ''],
  [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
])('%j proposes the id %j', (name, id) => {
  expect(proposeId(name)).toBe(id);
});

test('proposes a valid id for any name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const id = proposeId(name);
      expect(id === '' || /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)).toBe(true);
    }),
  );
});
