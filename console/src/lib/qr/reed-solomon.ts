/** Owns the check bytes of QR codes: Reed–Solomon over GF(256) with the polynomial 0x11d (ISO/IEC 18004, 7.5.2). */

const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  EXP[power] = value;
  EXP[power + 255] = value;
  LOG[value] = power;
  value = (value << 1) ^ (value > 127 ? 0x11d : 0);
}

function times(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : at(EXP, at(LOG, one) + at(LOG, other));
}

function at(table: Uint8Array, index: number): number {
  return table[index] ?? 0;
}

/** The product of (x − αⁱ) for i below `degree`, without its leading 1, the highest power first. */
function generator(degree: number): Uint8Array {
  const factors = new Uint8Array(degree);
  factors[degree - 1] = 1;
  for (let root = 0; root < degree; root++) {
    for (let index = 0; index < degree; index++) {
      factors[index] = times(at(factors, index), at(EXP, root)) ^ at(factors, index + 1);
    }
  }
  return factors;
}

/** The `count` check bytes of a block. */
export function checkBytes(block: readonly number[], count: number): readonly number[] {
  const divisor = generator(count);
  const rest = new Array<number>(count).fill(0);
  for (const byte of block) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    for (let index = 0; index < count; index++) rest[index] = (rest[index] ?? 0) ^ times(at(divisor, index), factor);
  }
  return rest;
}
