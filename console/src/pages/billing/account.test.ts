/** Holds that amounts of money are read to the last nano-dollar. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exactUsd } from '../../lib/money.ts';
import { readUsd } from './account.ts';

test('an amount is read to the last nano-dollar', () => {
  expect(readUsd('$1,250.5')).toEqual({ usd: '1250.5', nanoUsd: 1_250_500_000_000n });
  expect(readUsd(' 0.000000001 ')?.nanoUsd).toBe(1n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (nanoUsd) => {
      expect(readUsd(exactUsd(nanoUsd.toString()))?.nanoUsd).toBe(nanoUsd);
    }),
  );
});

test.each(['', '-5', '1.0000000001', '1e3', '1000000000', '.5', 'ten'])('%j is no amount', (text) => {
  expect(readUsd(text)).toBeNull();
});
