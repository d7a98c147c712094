/** Tests that a column gives back what was packed, wherever its bytes are, and finds ranges of values as comparing does. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ColumnKind, type ColumnValue, openColumn, packColumn } from './chunk-column.ts';

const text = fc.oneof(fc.constantFrom('', 'a', 'ab', 'b', 'é', '￿', '😀'), fc.string({ unit: 'grapheme' }));
const integer = fc.oneof(fc.nat(9), fc.nat(), fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
const real = fc.oneof(
  fc.nat(9),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
);
const rows = (value: fc.Arbitrary<ColumnValue>) =>
  fc.array(fc.option(value), { minLength: 1, maxLength: 600, size: 'max' });
const columns = fc.oneof(
  fc.tuple(fc.constant<ColumnKind>('text'), rows(text)),
  fc.tuple(fc.constant<ColumnKind>('integer'), rows(integer)),
  fc.tuple(fc.constant<ColumnKind>('integer'), rows(fc.nat(3))),
  fc.tuple(fc.constant<ColumnKind>('real'), rows(real)),
);

/** Integers of either type are equal where they are the same number. */
const plain = (value: ColumnValue | null) => (typeof value === 'bigint' ? value.toString() : value);
const asInteger = (kind: ColumnKind, value: ColumnValue | null) =>
  kind === 'integer' && value !== null ? BigInt(value).toString() : plain(value);

function isBelow(one: ColumnValue, other: ColumnValue): boolean {
  if (typeof one !== 'string' && typeof other !== 'string') return one < other;
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))) < 0;
}

test('each row has its value, and bounds are found by their order', () => {
  fc.assert(
    fc.property(columns, fc.nat({ max: 9 }), fc.nat(), ([kind, values], shift, nth) => {
      const packed = packColumn(kind, values);
      const moved = new Uint8Array(packed.length + shift);
      moved.set(packed, shift);
      const column = openColumn(moved.subarray(shift));
      const found = values.map((_, row) => column.valueOf(column.codes[row] ?? 0));
      expect(found.map((one) => asInteger(kind, one))).toEqual(values.map((one) => asInteger(kind, one)));
      const bound = values[nth % values.length] ?? null;
      if (bound === null) return;
      const limit = typeof bound === 'string' ? Buffer.from(bound) : bound;
      const [below, upTo] = [column.countBelow(limit, false), column.countBelow(limit, true)];
      for (const [row, value] of values.entries()) {
        if (value === null) continue;
        const code = column.codes[row] ?? 0;
        expect(code <= below).toBe(isBelow(value, bound));
        expect(code <= upTo).toBe(!isBelow(bound, value));
      }
    }),
    { numRuns: 300 },
  );
});

test('a column of one value takes no bytes per row', () => {
  const one = packColumn(
    'text',
    Array.from({ length: 1_000 }, () => 'same'),
  );
  const none = packColumn(
    'text',
    Array.from({ length: 1_000 }, () => null),
  );
  expect([one.length < 40, none.length < 40]).toEqual([true, true]);
  expect(openColumn(none).valueOf(openColumn(none).codes[999] ?? 1)).toBeNull();
});
