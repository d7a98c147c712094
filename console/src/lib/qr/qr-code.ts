/**
 * Owns drawing a QR code as squares: finders, timing, alignment, format, and the bytes in their zigzag (ISO/IEC 18004, 6.3,
 * 7.7–7.10). Byte mode, error correction L, always mask 0: every reader takes any mask, and a screen is no poor print.
 */
import { codeWords } from './code-words.ts';

/** Rows of squares, true where dark, without the quiet zone. Null: the text is too long. */
export function qrCode(text: string): readonly (readonly boolean[])[] | null {
  const words = codeWords(text);
  if (words === null) return null;
  const grid = new Grid(words.version);
  grid.drawFrame();
  grid.drawBytes(words.bytes);
  return grid.rows();
}

/** Places of alignment patterns, by version. */
const ALIGNMENT = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

class Grid {
  readonly #version: number;
  readonly #size: number;
  /** Undefined: free for the bytes. */
  readonly #frame: (boolean | undefined)[][];
  readonly #bytes: boolean[][];

  constructor(version: number) {
    this.#version = version;
    this.#size = version * 4 + 17;
    this.#frame = Array.from({ length: this.#size }, () => new Array<boolean | undefined>(this.#size).fill(undefined));
    this.#bytes = Array.from({ length: this.#size }, () => new Array<boolean>(this.#size).fill(false));
  }

  rows(): readonly (readonly boolean[])[] {
    return this.#frame.map((row, y) => row.map((dark, x) => dark ?? this.#bytes[y]?.[x] ?? false));
  }

  drawFrame(): void {
    const end = this.#size - 1;
    for (let at = 0; at <= end; at++) {
      this.#set(6, at, at % 2 === 0);
      this.#set(at, 6, at % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [end - 3, 3],
      [3, end - 3],
    ] as const)
      this.#drawRings(x, y, 4);
    const places = ALIGNMENT[this.#version - 1] ?? [];
    const last = places.at(-1);
    for (const x of places) {
      for (const y of places) {
        const isFinder = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
        if (!isFinder) this.#drawRings(x, y, 2);
      }
    }
    this.#drawFormat();
    if (this.#version >= 7) this.#drawVersion();
  }

  /** Squares around a middle: dark, but for the second ring, and the fourth, a finder's edge. */
  #drawRings(middleX: number, middleY: number, reach: 2 | 4): void {
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        this.#set(middleX + dx, middleY + dy, reach === 2 ? ring !== 1 : ring !== 2 && ring !== 4);
      }
    }
  }

  /** Level L and mask 0, twice, with ten check bits. */
  #drawFormat(): void {
    const level = 0b01 << 3;
    const bits = withCheck(level, 10, 0x537) ^ 0x5412;
    const dark = (index: number): boolean => ((bits >> index) & 1) === 1;
    const end = this.#size - 1;
    for (let index = 0; index < 15; index++) {
      // Along the finder at the top left, around the timing line.
      if (index < 8) this.#set(8, index < 6 ? index : index + 1, dark(index));
      else this.#set(index === 8 ? 7 : 14 - index, 8, dark(index));
      // Along the other two.
      if (index < 8) this.#set(end - index, 8, dark(index));
      else this.#set(8, end - 14 + index, dark(index));
    }
    this.#set(8, end - 7, true);
  }

  /** Twice, with twelve check bits. */
  #drawVersion(): void {
    const bits = withCheck(this.#version, 12, 0x1f25);
    for (let index = 0; index < 18; index++) {
      const far = this.#size - 11 + (index % 3);
      const near = Math.floor(index / 3);
      const dark = ((bits >> index) & 1) === 1;
      this.#set(far, near, dark);
      this.#set(near, far, dark);
    }
  }

  /** In columns two wide from the right, up and down in turns, around the frame; mask 0 turns every other square. */
  drawBytes(bytes: readonly number[]): void {
    let bit = 0;
    let isUp = true;
    for (let right = this.#size - 1; right > 0; right -= 2) {
      // The upright timing line is no part of a column.
      if (right === 6) right = 5;
      for (let step = 0; step < this.#size; step++) {
        const y = isUp ? this.#size - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.#frame[y]?.[x] !== undefined) continue;
          const isSet = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
          const row = this.#bytes[y];
          if (row !== undefined) row[x] = isSet !== ((x + y) % 2 === 0);
          bit++;
        }
      }
      isUp = !isUp;
    }
  }

  #set(x: number, y: number, dark: boolean): void {
    const row = this.#frame[y];
    if (row !== undefined && x >= 0 && x < this.#size) row[x] = dark;
  }
}

/** The value with the check bits of a BCH code behind it. */
function withCheck(value: number, checkBits: number, polynomial: number): number {
  let rest = value;
  for (let index = 0; index < checkBits; index++) rest = (rest << 1) ^ ((rest >> (checkBits - 1)) * polynomial);
  return (value << checkBits) | rest;
}
