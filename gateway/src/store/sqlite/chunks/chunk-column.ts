/**
 * Packs one column of a chunk: its distinct values in ascending order, and for each row the code of its value. A test of
 * a value becomes a range of codes, which a binary search finds once per chunk; rows are then compared by small numbers.
 */

/** How the values of a column are stored and ordered: texts by their UTF-8 bytes, as SQLite orders them. */
export type ColumnKind = 'text' | 'integer' | 'real';
export type ColumnValue = string | number | bigint;

export interface ChunkColumn {
  /** Of each row: 0 for no value, else 1 + the position of its value. */
  readonly codes: Uint8Array | Uint16Array;
  /** Number of distinct values; the highest code. */
  readonly count: number;
  valueOf(code: number): ColumnValue | null;
  /** How many values are below a value, or, with `orEqual`, not above it. A text is passed as bytes. */
  countBelow(value: Uint8Array | number | bigint, orEqual: boolean): number;
}

const TEXT = 0;
const UINT32 = 1;
const FLOAT64 = 2;
const INT64 = 3;
/** Kind of the values, bytes per code, number of rows, number of values. */
const HEAD_BYTES = 8;
const ALIGNMENT = 8;
const UINT32_MAX = 2 ** 32 - 1;
const BYTE_CODES = 256;

/** Equal values mostly follow one another, so each is compared with the one before it first: that is cheaper than a hash. */
export function packColumn(kind: ColumnKind, values: readonly (ColumnValue | null)[]): Uint8Array {
  /** Distinct values, numbered from 1 in the order in which they come. */
  const places = new Map<ColumnValue, number>();
  const codes = new Uint16Array(values.length);
  let before: ColumnValue | null = null;
  let place = 0;
  for (let row = 0; row < codes.length; row++) {
    const value = values[row] ?? null;
    if (value !== before) {
      before = value;
      place = value === null ? 0 : (places.get(value) ?? places.size + 1);
      if (place > places.size && value !== null) places.set(value, place);
    }
    codes[row] = place;
  }
  return kind === 'text'
    ? packTexts(codes, places as Map<string, number>)
    : packNumbers(kind, codes, places as Map<number | bigint, number>);
}

function packTexts(codes: Uint16Array, places: ReadonlyMap<string, number>): Uint8Array {
  const joined = [...places.keys()].join('');
  const isAscii = Buffer.byteLength(joined) === joined.length;
  const sorted = sortTexts([...places.keys()], isAscii);
  const ends = new Uint32Array(sorted.length);
  let end = 0;
  for (let index = 0; index < ends.length; index++) {
    const text = sorted[index] ?? '';
    end += isAscii ? text.length : Buffer.byteLength(text);
    ends[index] = end;
  }
  return join(TEXT, codes.length, sorted.length, [
    packCodes(codes, sorted, places),
    bytesOf(ends),
    Buffer.from(sorted.join('')),
  ]);
}

/** In the order of their UTF-8 bytes, which for ASCII is that of strings, and much faster. */
function sortTexts(texts: string[], isAscii: boolean): readonly string[] {
  if (isAscii)
    return texts.every((text, index) => index === 0 || (texts[index - 1] ?? '') < text) ? texts : texts.sort();
  const encoded = texts.map((text) => ({ text, bytes: Buffer.from(text) }));
  encoded.sort((one, other) => Buffer.compare(one.bytes, other.bytes));
  return encoded.map(({ text }) => text);
}

function packNumbers(
  kind: 'integer' | 'real',
  codes: Uint16Array,
  places: ReadonlyMap<number | bigint, number>,
): Uint8Array {
  const sorted = sortNumbers([...places.keys()]);
  const [form, packed] = packValues(kind, sorted);
  return join(form, codes.length, sorted.length, [packCodes(codes, sorted, places), packed]);
}

function sortNumbers(values: (number | bigint)[]): readonly (number | bigint)[] {
  const isExact = values.some((value) => typeof value === 'bigint');
  return isExact
    ? values.sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
    : [...Float64Array.from(values, Number).sort()];
}

function packValues(kind: 'integer' | 'real', sorted: readonly (number | bigint)[]): readonly [number, Uint8Array] {
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  if (kind === 'real') return [FLOAT64, bytesOf(Float64Array.from(sorted, Number))];
  if (least >= 0 && most <= UINT32_MAX) return [UINT32, bytesOf(Uint32Array.from(sorted, Number))];
  if (least >= Number.MIN_SAFE_INTEGER && most <= Number.MAX_SAFE_INTEGER) {
    return [FLOAT64, bytesOf(Float64Array.from(sorted, Number))];
  }
  return [INT64, bytesOf(BigInt64Array.from(sorted, BigInt))];
}

/** `codes` have places, which become positions. Empty where all rows have the same code, the number of values. */
function packCodes<Value extends ColumnValue>(
  codes: Uint16Array,
  sorted: readonly Value[],
  places: ReadonlyMap<Value, number>,
): Uint8Array {
  const count = sorted.length;
  if (count === 0 || (count === 1 && !codes.includes(0))) return new Uint8Array();
  const positions = new Uint16Array(count + 1);
  for (let index = 0; index < count; index++) positions[places.get(sorted[index] as Value) ?? 0] = index + 1;
  const packed = count < BYTE_CODES ? new Uint8Array(codes.length) : new Uint16Array(codes.length);
  for (let row = 0; row < codes.length; row++) packed[row] = positions[codes[row] ?? 0] ?? 0;
  return bytesOf(packed);
}

function join(form: number, rows: number, count: number, parts: readonly Uint8Array[]): Uint8Array {
  const places: number[] = [];
  let length = HEAD_BYTES;
  for (const part of parts) {
    length = aligned(length);
    places.push(length);
    length += part.length;
  }
  const packed = new Uint8Array(length);
  const [codes] = parts;
  const width = codes === undefined || codes.length === 0 ? 0 : codes.length / rows;
  packed.set([form, width]);
  new DataView(packed.buffer).setUint16(2, rows, true);
  new DataView(packed.buffer).setUint16(4, count, true);
  for (const [index, part] of parts.entries()) packed.set(part, places[index]);
  return packed;
}

const aligned = (at: number) => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export function openColumn(stored: Uint8Array): ChunkColumn {
  const packed = stored.byteOffset % ALIGNMENT === 0 ? stored : Uint8Array.from(stored);
  const { buffer, byteOffset } = packed;
  const [form = TEXT, width = 0] = packed;
  const head = new DataView(buffer, byteOffset, HEAD_BYTES);
  const [rows, count] = [head.getUint16(2, true), head.getUint16(4, true)];
  const codes = openCodes(packed, { width, rows, count });
  const at = byteOffset + aligned(HEAD_BYTES + rows * width);
  if (form === TEXT) {
    const ends = new Uint32Array(buffer, at, count);
    const first = aligned(at - byteOffset + count * 4);
    return textColumn(codes, ends, Buffer.from(buffer, byteOffset + first, packed.length - first));
  }
  const values =
    form === UINT32
      ? new Uint32Array(buffer, at, count)
      : form === FLOAT64
        ? new Float64Array(buffer, at, count)
        : new BigInt64Array(buffer, at, count);
  return {
    codes,
    count,
    valueOf: (code) => (code === 0 ? null : (values[code - 1] ?? null)),
    countBelow(value, orEqual) {
      const limit = value as number | bigint;
      return firstIndex(count, (index) => {
        const own = values[index] ?? 0;
        return orEqual ? own > limit : own >= limit;
      });
    },
  };
}

function openCodes(
  { buffer, byteOffset }: Uint8Array,
  { width, rows, count }: { readonly width: number; readonly rows: number; readonly count: number },
): Uint8Array | Uint16Array {
  const at = byteOffset + HEAD_BYTES;
  if (width === 1) return new Uint8Array(buffer, at, rows);
  if (width === 2) return new Uint16Array(buffer, at, rows);
  return new Uint16Array(rows).fill(count);
}

function textColumn(codes: ChunkColumn['codes'], ends: Uint32Array, bytes: Buffer): ChunkColumn {
  const startOf = (index: number) => (index === 0 ? 0 : (ends[index - 1] ?? 0));
  return {
    codes,
    count: ends.length,
    valueOf: (code) => (code === 0 ? null : bytes.toString('utf8', startOf(code - 1), ends[code - 1])),
    countBelow(value, orEqual) {
      const limit = value as Uint8Array;
      return firstIndex(ends.length, (index) => {
        const order = bytes.compare(limit, 0, limit.length, startOf(index), ends[index]);
        return orEqual ? order > 0 : order >= 0;
      });
    },
  };
}

/** The first index that passes the test; all further ones pass it too. */
function firstIndex(count: number, isPast: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
