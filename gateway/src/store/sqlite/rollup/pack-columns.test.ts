/**
 * Tests that lists are unpacked as they were packed, wherever their bytes are in memory, and that nothing is packed
 * that would come back changed.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { openColumns, packColumns } from './sum-block.ts';

const column = fc
  .tuple(
    fc.constantFrom(0, 0xff, 0x100, 0xffff_ffff, Number.MAX_SAFE_INTEGER),
    fc.constantFrom(0, -1, Number.MIN_SAFE_INTEGER),
  )
  .chain(([max, min]) => fc.array(fc.integer({ min, max }), { maxLength: 40, size: 'max' }))
  .map((numbers) => Float64Array.from(numbers));

test('reading restores what was packed', () => {
  fc.assert(
    fc.property(fc.array(column, { maxLength: 9 }), fc.integer({ min: 0, max: 9 }), (columns, shift) => {
      const packed = packColumns(columns);
      // As a part of a larger buffer, at any offset.
      const moved = new Uint8Array(packed.length + shift);
      moved.set(packed, shift);
      expect(openColumns(moved.subarray(shift)).map((one) => [...one])).toEqual(columns.map((one) => [...one]));
    }),
  );
});

test('a list is as wide as its largest number', () => {
  const bytesOf = (...numbers: number[]) =>
    packColumns([Float64Array.from(numbers)]).length - packColumns([new Uint8Array()]).length;
  expect([
    bytesOf(0, 0),
    bytesOf(1, 255),
    bytesOf(1, 256),
    bytesOf(1, 65_536),
    bytesOf(1, 2 ** 32),
    bytesOf(0, -1),
  ]).toEqual([0, 2, 4, 8, 16, 16]);
});

test.each([0.5, Number.NaN, 2 ** 53, -(2 ** 53), Number.POSITIVE_INFINITY])('%p is refused', (number) => {
  expect(() => packColumns([Float64Array.of(1, number)])).toThrow(RangeError);
});
