/**
 * Classifies the bytes of JSON text, 16 at a time: each function sets the lanes, or the bits, of the bytes of its class.
 */

export const QUOTE: i32 = 0x22;
export const BACKSLASH: i32 = 0x5c;

/** Sets the bits of the bytes of a block whose lanes are set. */
export function places(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    (<u64>(i8x16.bitmask(a) | (i8x16.bitmask(b) << 16)) & 0xffffffff) |
    ((<u64>(i8x16.bitmask(c) | (i8x16.bitmask(d) << 16))) << 32)
  );
}

export function equal(bytes: v128, byte: i32): v128 {
  return i8x16.eq(bytes, i8x16.splat(<i8>byte));
}

/** Control characters and quotes: flipping bit 1 puts the quote right after the control characters. */
export function stop(bytes: v128): v128 {
  return i8x16.le_u(v128.xor(bytes, i8x16.splat(0x02)), i8x16.splat(0x20));
}

/** White space. A table by the low four bits holds the only candidate, or 0. */
export function blank(bytes: v128): v128 {
  const candidates = i8x16(0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0a, 0, 0, 0x0d, 0, 0);
  return i8x16.eq(bytes, i8x16.swizzle(candidates, v128.and(bytes, i8x16.splat(0x0f))));
}

/** Brackets, colon and comma, each with its twin that differs in bit 5: the control characters 0x1a and 0x0c too. */
export function sign(bytes: v128): v128 {
  const candidates = i8x16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x7b, 0x2c, 0x7d, 0, 0);
  const twin = v128.or(bytes, i8x16.splat(0x20));
  return i8x16.eq(twin, i8x16.swizzle(candidates, v128.and(bytes, i8x16.splat(0x0f))));
}

/**
 * The bytes that are no escape of one letter (`"`, `\\`, `/`, b, f, n, r, t): the sets that their high and low four bits
 * belong to have no bit in common.
 */
export function noLetter(bytes: v128): v128 {
  const byLow = i8x16(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
  const byHigh = i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const four = i8x16.splat(0x0f);
  const low = i8x16.swizzle(byLow, v128.and(bytes, four));
  const high = i8x16.swizzle(byHigh, v128.and(i16x8.shr_u(bytes, 4), four));
  return i8x16.eq(v128.and(low, high), i8x16.splat(0));
}

/** Sets the bits from each odd bit of `marks` up to before the next one. */
export function throughPairs(marks: u64): u64 {
  let bits = marks ^ (marks << 1);
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ (bits << 32);
}

/** Whether the byte is a `u` before four hexadecimal digits. */
export function isUnit(at: usize): bool {
  const bytes = v128.load32_zero(at, 1);
  const digits = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(9));
  const small = v128.or(bytes, i8x16.splat(0x20));
  const letters = i8x16.le_u(i8x16.sub(small, i8x16.splat(0x61)), i8x16.splat(5));
  return load<u8>(at) === 0x75 && (i8x16.bitmask(v128.or(digits, letters)) & 15) === 15;
}
