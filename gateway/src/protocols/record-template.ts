/**
 * Owns the recognition of records that differ from the one before only inside a string or two (the text of a delta, and
 * padding), so that they need no JSON parse. Exact: what matches has the same structure and members; what does not match
 * says nothing.
 */
import type { SseRecord } from '../wire/sse-record.ts';

/** The literal text around the holes; the strings in the holes hold no quote and no backslash. */
export interface RecordTemplate {
  readonly literals: readonly string[];
}

const QUOTE = '"';

/** The data of a record, one character per byte: quick to make and to compare, and JSON's own syntax is ASCII. */
export function dataLatin1({ dataBytes, dataStart, dataEnd }: SseRecord): string {
  const bytes = Buffer.isBuffer(dataBytes)
    ? dataBytes
    : Buffer.from(dataBytes.buffer, dataBytes.byteOffset, dataBytes.length);
  return bytes.toString('latin1', dataStart, dataEnd);
}

/**
 * Learns a template from a record's text (Latin-1, as bytes) with one hole per key, the first of which must be there.
 * Null where a hole's place is not certain: the key occurs twice with that value, or its value has an escape.
 */
export function learnTemplate(
  text: string,
  holes: ReadonlyArray<readonly [key: string, value: string]>,
): RecordTemplate | null {
  const spans: Array<readonly [start: number, end: number]> = [];
  for (const [key, value] of holes) {
    const bytes = Buffer.from(value).toString('latin1');
    if (bytes.includes(QUOTE) || bytes.includes('\\')) return null;
    const opening = `"${key}":"`;
    const at = text.indexOf(`${opening}${bytes}${QUOTE}`);
    if (at === -1 || text.indexOf(opening, at + 1) !== -1 || text.indexOf(opening) !== at) return null;
    const start = at + opening.length;
    spans.push([start, start + bytes.length]);
  }
  spans.sort((one, other) => one[0] - other[0]);
  const literals: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    literals.push(text.slice(from, start));
    from = end;
  }
  literals.push(text.slice(from));
  return { literals };
}

/** The bytes in all holes together; -1 where the record is of another shape. */
export function matchTemplate(template: RecordTemplate, text: string): number {
  const { literals } = template;
  const first = literals[0] ?? '';
  if (!text.startsWith(first)) return -1;
  let at = first.length;
  let holeBytes = 0;
  for (let index = 1; index < literals.length; index++) {
    const literal = literals[index] ?? '';
    const end = text.indexOf(QUOTE, at);
    if (end === -1 || !text.startsWith(literal, end)) return -1;
    const backslash = text.indexOf('\\', at);
    if (backslash !== -1 && backslash < end) return -1;
    holeBytes += end - at;
    at = end + literal.length;
  }
  return at === text.length ? holeBytes : -1;
}
