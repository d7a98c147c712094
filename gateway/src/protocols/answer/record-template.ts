/**
 * Recognizes SSE records that differ from an earlier one only inside a string or two (the text of a delta, and
 * padding), so that they need no decoding or JSON parse. Exact: around those strings a recognized record is byte for
 * byte the same; everything else goes to the parser.
 */
import type { StreamRecord } from '../../framing/framing.ts';

const QUOTE = '"';
const RECORD_END = '\n\n';
/** Bytes. The first window is short, so that a stream without matches costs little; later windows grow. */
const FIRST_WINDOW = 1024;
const WINDOW_MAX = 32 * 1024;

/** All bytes of a record, including its framing, one character per byte: fast to create and compare. */
export function rawLatin1({ bytes, start, end }: StreamRecord): string {
  return asBuffer(bytes).toString('latin1', start, end);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The literal text around the variable strings (the holes) of a record; one hole holds the model's text. */
export class RecordTemplate {
  /** Bytes in the counted hole of all records that the last `skim` recognized, and their number. */
  heldBytes = 0;
  heldRecords = 0;
  readonly #literals: readonly string[];
  readonly #countedHole: number;
  /** The hole with the number of the record, and the next number; -1: records are not numbered. */
  readonly #numberHole: number;
  #nextNumber: number;
  #heldFrom = 0;
  #heldTo = 0;

  constructor(literals: readonly string[], countedHole: number, numberHole = -1, nextNumber = 0) {
    this.#literals = literals;
    this.#countedHole = countedHole;
    this.#numberHole = numberHole;
    this.#nextNumber = nextNumber;
  }

  /** The records of the last `skim` count: the numbers continue after them. */
  advance(): void {
    this.#nextNumber += this.heldRecords;
  }

  /**
   * The end of the consecutive records recognized from `start` on; `start` itself without such records.
   * `onHeld` receives the counted hole of each record, one character per byte.
   */
  skim(bytes: Uint8Array, start: number, onHeld: ((held: string) => void) | null = null): number {
    this.heldBytes = 0;
    this.heldRecords = 0;
    const buffer = asBuffer(bytes);
    let at = start;
    for (let window = FIRST_WINDOW; at < bytes.length; window = Math.min(WINDOW_MAX, window * 4)) {
      const text = buffer.toString('latin1', at, Math.min(bytes.length, at + window));
      const end = this.#skimText(text, onHeld);
      at += end;
      if (end === 0) break;
    }
    return at;
  }

  #skimText(text: string, onHeld: ((held: string) => void) | null): number {
    const marks = new Marks(text);
    let at = 0;
    for (;;) {
      const end = this.#matchRecord(text, at, marks);
      if (end === -1) return at;
      onHeld?.(text.slice(this.#heldFrom, this.#heldTo));
      at = end;
    }
  }

  /** The end of the record at `start`, or -1. Holes must have no quote, backslash or line end: no unescaping. */
  #matchRecord(text: string, start: number, marks: Marks): number {
    const literals = this.#literals;
    const first = literals[0] ?? '';
    if (!text.startsWith(first, start)) return -1;
    let at = start + first.length;
    let held = 0;
    for (let hole = 0; hole + 1 < literals.length; hole++) {
      const literal = literals[hole + 1] ?? '';
      const end = hole === this.#numberHole ? this.#numberEnd(text, at) : text.indexOf(QUOTE, at);
      if (end === -1 || !text.startsWith(literal, end) || marks.within(at, end)) return -1;
      if (hole === this.#countedHole) {
        held = end - at;
        this.#heldFrom = at;
        this.#heldTo = end;
      }
      at = end + literal.length;
    }
    this.heldBytes += held;
    this.heldRecords += 1;
    return at;
  }

  /** The end of the next number, which must be at `at`; -1: another one is there. */
  #numberEnd(text: string, at: number): number {
    const digits = String(this.#nextNumber + this.heldRecords);
    return text.startsWith(digits, at) ? at + digits.length : -1;
  }
}

/** Learns a template from a record and skims the records that match it; counts the model's bytes in them. */
export class RecordSkimmer {
  #template: RecordTemplate | null = null;
  #isReasoning = false;
  #heldBytes = 0;
  #heldRecords = 0;
  #heldReasoningBytes = 0;
  /** What the last `preview` found; null: nothing, or it was skimmed since. */
  #seen: Preview | null = null;

  /** Bytes in the counted holes of all skimmed records. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The number of all skimmed records. */
  get heldRecords(): number {
    return this.#heldRecords;
  }

  /** The part of `heldBytes` in records that match a template learned as reasoning. */
  get heldReasoningBytes(): number {
    return this.#heldReasoningBytes;
  }

  /** Like `RecordTemplate.skim`; returns `start` until a template is learned. */
  skim(bytes: Uint8Array, start: number, onHeld: ((held: string) => void) | null = null): number {
    const template = this.#template;
    if (template === null) return start;
    const seen = this.#seen;
    this.#seen = null;
    const isSeen = seen !== null && onHeld === null && isSpanOf(seen, bytes, start);
    const end = isSeen ? bytes.length : template.skim(bytes, start, onHeld);
    template.advance();
    this.#heldBytes += template.heldBytes;
    this.#heldRecords += template.heldRecords;
    if (this.#isReasoning) this.#heldReasoningBytes += template.heldBytes;
    return end;
  }

  /**
   * Where `skim` would end, and the bytes in counted holes up to there; counts nothing. If exactly these bytes are skimmed
   * next, they are not read again: until then they must not change.
   */
  preview(bytes: Uint8Array, start: number): { readonly end: number; readonly outputBytes: number } {
    const end = this.#template?.skim(bytes, start) ?? start;
    const { buffer, byteOffset } = bytes;
    this.#seen = end === start ? null : { buffer, from: byteOffset + start, to: byteOffset + end };
    return { end, outputBytes: this.#template?.heldBytes ?? 0 };
  }

  /** Learns the record as the template for the next ones; see `learnTemplate`. False: it cannot be a template. */
  learn(
    record: StreamRecord,
    holes: ReadonlyArray<readonly [key: string, value: string]>,
    isReasoning: boolean = false,
    numberKey: string | null = null,
  ): boolean {
    this.#isReasoning = isReasoning;
    this.#seen = null;
    this.#template = learnTemplate(rawLatin1(record), holes, numberKey);
    return this.#template !== null;
  }

  /** Discards the template. */
  forget(): void {
    this.#seen = null;
    this.#template = null;
  }
}

/** The bytes of previewed records. */
interface Preview {
  readonly buffer: ArrayBufferLike;
  readonly from: number;
  readonly to: number;
}

function isSpanOf({ buffer, from, to }: Preview, bytes: Uint8Array, start: number): boolean {
  return buffer === bytes.buffer && from === bytes.byteOffset + start && to === bytes.byteOffset + bytes.length;
}

/** Finds the next backslash and line ends of a text, each once instead of once per record. */
class Marks {
  readonly #text: string;
  #backslash = -1;
  #lineFeed = -1;
  #carriageReturn = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether one of them is in `[start, end)`. `start` must not decrease between calls. */
  within(start: number, end: number): boolean {
    if (this.#backslash < start) this.#backslash = this.#next('\\', start);
    if (this.#lineFeed < start) this.#lineFeed = this.#next('\n', start);
    if (this.#carriageReturn < start) this.#carriageReturn = this.#next('\r', start);
    return this.#backslash < end || this.#lineFeed < end || this.#carriageReturn < end;
  }

  #next(mark: string, from: number): number {
    const at = this.#text.indexOf(mark, from);
    return at === -1 ? Number.POSITIVE_INFINITY : at;
  }
}

/**
 * Learns a template from a whole record with one hole per key; the first key's hole is counted. `numberKey`: the member
 * that numbers the records one by one, if the record has it. Null if the position of a hole is uncertain (the key occurs
 * twice, its value has an escape) or the record does not end in two line feeds.
 */
export function learnTemplate(
  raw: string,
  holes: ReadonlyArray<readonly [key: string, value: string]>,
  numberKey: string | null = null,
): RecordTemplate | null {
  if (!raw.endsWith(RECORD_END)) return null;
  const spans: Span[] = [];
  for (const [key, value] of holes) {
    const bytes = Buffer.from(value).toString('latin1');
    if (/["\\\r\n]/.test(bytes)) return null;
    const opening = `"${key}":"`;
    const at = raw.indexOf(opening);
    const start = at + opening.length;
    if (at === -1 || raw.indexOf(opening, start) !== -1 || !raw.startsWith(`${bytes}${QUOTE}`, start)) return null;
    spans.push({ start, end: start + bytes.length, holds: spans.length === 0 ? 'counted' : 'text' });
  }
  const number = numberKey === null ? 'none' : findNumber(raw, numberKey);
  if (number === 'uncertain') return null;
  if (number !== 'none') spans.push(number);
  spans.sort((one, other) => one.start - other.start);
  const literals: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    literals.push(raw.slice(from, start));
    from = end;
  }
  literals.push(raw.slice(from));
  const holeOf = (kind: Span['holds']) => spans.findIndex(({ holds }) => holds === kind);
  const next = number === 'none' ? 0 : Number(raw.slice(number.start, number.end)) + 1;
  return new RecordTemplate(literals, holeOf('counted'), holeOf('number'), next);
}

/** The place of a hole in a record. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly holds: 'counted' | 'text' | 'number';
}

const DIGITS = /\d{1,15}(?=[,}])/y;

/** The digits of a member; `none`: the record does not have it, `uncertain`: twice, or not as an integer. */
function findNumber(raw: string, key: string): Span | 'none' | 'uncertain' {
  const opening = `"${key}":`;
  const at = raw.indexOf(opening);
  if (at === -1) return 'none';
  DIGITS.lastIndex = at + opening.length;
  const digits = DIGITS.exec(raw)?.[0];
  if (digits === undefined || raw.indexOf(opening, at + 1) !== -1) return 'uncertain';
  const start = at + opening.length;
  return { start, end: start + digits.length, holds: 'number' };
}
