/** Holds the QR encoder to the examples that the standard and its explanations publish, and to a code that a reader read. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { codeWords } from './code-words.ts';
import { qrCode } from './qr-code.ts';
import { checkBytes } from './reed-solomon.ts';

const URI =
  'otpauth://totp/Tollgate:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Tollgate&digits=6&period=30';

describe('check bytes', () => {
  test('are those of the published example "HELLO WORLD" 1-M', () => {
    const block = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    expect(checkBytes(block, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  });
});

describe('code words', () => {
  test('begin with mode, length and text, and end in padding', () => {
    // 0100, 00000010, 'H' 01001000, 'i' 01101001, 0000, then the two paddings in turns.
    const { version, bytes } = codeWords('Hi') ?? { version: 0, bytes: [] };
    expect(version).toBe(1);
    expect(bytes.slice(0, 7)).toEqual([0x40, 0x24, 0x86, 0x90, 0xec, 0x11, 0xec]);
    expect(bytes).toHaveLength(26);
  });
  test('take the smallest version that holds them, up to its last byte', () => {
    const versionOf = (length: number) => codeWords('a'.repeat(length))?.version ?? null;
    expect([17, 18, 230, 231, 271, 272].map(versionOf)).toEqual([1, 2, 9, 10, 10, null]);
  });
  test('fill every version exactly', () => {
    const totals = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 271 }), (length) => {
        const words = codeWords('x'.repeat(length));
        expect(words?.bytes.length).toBe(totals[(words?.version ?? 0) - 1]);
      }),
    );
  });
});

describe('a drawn code', () => {
  const rows = qrCode(URI) ?? [];
  const bit = (x: number, y: number): string => (rows[y]?.[x] === true ? '1' : '0');
  const size = rows.length;

  test('has three finders and the dark square', () => {
    const finder = (left: number, top: number) =>
      [0, 1, 2, 3, 4, 5, 6].map((x) => bit(left + x, top + 3)).join('') +
      [0, 1, 2, 3, 4, 5, 6].map((x) => bit(left + x, top + 1)).join('');
    for (const [left, top] of [
      [0, 0],
      [size - 7, 0],
      [0, size - 7],
    ] as const)
      expect(finder(left, top)).toBe('10111011000001');
    expect(bit(8, size - 8)).toBe('1');
  });
  test('says level L and mask 0 as the standard lists it', () => {
    const upright = [...[0, 1, 2, 3, 4, 5, 7, 8].map((x) => bit(x, 8)), ...[7, 5, 4, 3, 2, 1, 0].map((y) => bit(8, y))];
    expect(upright.join('')).toBe('111011111000100');
  });
  test('says its version from 7 on as the standard lists it', () => {
    const seven = qrCode('a'.repeat(140)) ?? [];
    expect(seven).toHaveLength(45);
    const bits = Array.from({ length: 18 }, (_, index) => {
      const at = 17 - index;
      return seven[Math.floor(at / 3)]?.[45 - 11 + (at % 3)] === true ? '1' : '0';
    });
    expect(bits.join('')).toBe('000111110010010100');
  });
  test('stays as it was when a reader read it (every length and version, with jsQR 1.4.0, 2026-11)', () => {
    const text = rows.map((row) => row.map(Number).join('')).join('\n');
    expect(new Bun.CryptoHasher('sha256').update(text).digest('hex')).toBe(
      '9c1372f58c648aba46111429543003b09481d3a9d5b64493a2409f2a00720e23',
    );
  });
});
