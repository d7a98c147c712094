/**
 * Owns lists of whole numbers as bytes: each list as wide as its largest number asks for, and read where it lies, without being
 * copied. Knows not what the numbers are. Bytes are in the order of the machine, which is little-endian wherever Bun runs.
 */

export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** Bytes for each number; 0: all are 0, and none is written. */
type Width = 0 | 1 | 2 | 4 | 8;

/** In this order they lie behind one another, so that each list begins at a multiple of its width. */
const WIDTHS = [8, 4, 2, 1] as const;
/** The number of lists, then length and width of each. */
const HEAD_NUMBERS = 1;
const LIST_NUMBERS = 2;

/** @throws RangeError where a number is not whole, or beyond what a number holds exactly. */
export function packColumns(lists: readonly Column[]): Uint8Array {
  const widths = lists.map(widthOf);
  const headBytes = headBytesOf(lists.length);
  const bytes = new Uint8Array(lists.reduce((sum, list, nth) => sum + list.length * (widths[nth] ?? 0), headBytes));
  const head = new Uint32Array(bytes.buffer, 0, headBytes / 4);
  head[0] = lists.length;
  for (const [nth, list] of lists.entries()) {
    head[HEAD_NUMBERS + nth * LIST_NUMBERS] = list.length;
    head[HEAD_NUMBERS + nth * LIST_NUMBERS + 1] = widths[nth] ?? 0;
  }
  let at = headBytes;
  for (const width of WIDTHS) {
    for (const [nth, list] of lists.entries()) {
      if (widths[nth] !== width) continue;
      columnAt(bytes.buffer, at, list.length, width).set(list);
      at += list.length * width;
    }
  }
  return bytes;
}

/** The lists of `packColumns`, or the first of them. */
export function openColumns(packed: Uint8Array, listsMax = Number.POSITIVE_INFINITY): Column[] {
  // A view begins at a multiple of its width, counted from the beginning of the memory.
  const { buffer, byteOffset } = packed.byteOffset % 8 === 0 ? packed : packed.slice();
  const count = new Uint32Array(buffer, byteOffset, HEAD_NUMBERS)[0] ?? 0;
  const head = new Uint32Array(buffer, byteOffset, HEAD_NUMBERS + count * LIST_NUMBERS);
  const columns = new Array<Column>(Math.min(count, listsMax));
  let at = byteOffset + headBytesOf(count);
  for (const width of [...WIDTHS, 0] as const) {
    for (let nth = 0; nth < count; nth++) {
      if (head[HEAD_NUMBERS + nth * LIST_NUMBERS + 1] !== width) continue;
      const length = head[HEAD_NUMBERS + nth * LIST_NUMBERS] ?? 0;
      if (nth < listsMax) columns[nth] = width === 0 ? new Uint8Array(length) : columnAt(buffer, at, length, width);
      at += length * width;
    }
  }
  return columns;
}

function columnAt(buffer: ArrayBufferLike, at: number, length: number, width: Exclude<Width, 0>): Column {
  if (width === 1) return new Uint8Array(buffer, at, length);
  if (width === 2) return new Uint16Array(buffer, at, length);
  return width === 4 ? new Uint32Array(buffer, at, length) : new Float64Array(buffer, at, length);
}

function headBytesOf(lists: number): number {
  return Math.ceil(((HEAD_NUMBERS + lists * LIST_NUMBERS) * 4) / 8) * 8;
}

function widthOf(list: Column): Width {
  let most = 0;
  let least = 0;
  for (let nth = 0; nth < list.length; nth++) {
    const number = list[nth] ?? 0;
    // Also what is no number.
    if (Math.trunc(number) !== number) refuse(number);
    if (number > most) most = number;
    else if (number < least) least = number;
  }
  if (most > Number.MAX_SAFE_INTEGER || least < -Number.MAX_SAFE_INTEGER) refuse(Math.max(most, -least));
  if (least < 0 || most > 0xffff_ffff) return 8;
  if (most > 0xffff) return 4;
  if (most > 0xff) return 2;
  return most === 0 ? 0 : 1;
}

function refuse(number: number): never {
  throw new RangeError(`found ${number} in a list, expected a whole number that is held exactly`);
}
