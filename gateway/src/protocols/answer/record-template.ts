/**
 * Owns the recognition of records that differ from one before only inside a string or two (the text of a delta, and
 * padding), so that they need neither decoding nor a JSON parse. Exact: what is recognised has the same members and
 * structure, byte for byte, around the strings; what is not recognised is left to the parser.
 */
import type { SseRecord } from '../../framing/sse-record.ts';

const QUOTE = '"';
const RECORD_END = '\n\n';
/** A first look is short, so that a stream without likenesses costs little; then windows grow. Bytes. */
const FIRST_WINDOW = 1024;
const WINDOW_MAX = 32 * 1024;

/** All bytes of a record, its framing too, one character per byte: quick to make and to compare. */
export function rawLatin1({ bytes, start, end }: SseRecord): string {
  return asBuffer(bytes).toString('latin1', start, end);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The literal text around the strings (the holes) of a record; one of the holes is what the model said. */
export class RecordTemplate {
  /** Bytes in the counted hole of all records that the last `skim` recognised. */
  heldBytes = 0;
  readonly #literals: readonly string[];
  readonly #countedHole: number;
  #heldFrom = 0;
  #heldTo = 0;

  constructor(literals: readonly string[], countedHole: number) {
    this.#literals = literals;
    this.#countedHole = countedHole;
  }

  /**
   * Where the records that it recognises end, one behind the other from `start` on; `start` itself where there is none.
   * `onHeld` is told what each says in its counted hole, one character per byte.
   */
  skim(bytes: Uint8Array, start: number, onHeld: ((held: string) => void) | null = null): number {
    this.heldBytes = 0;
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

  /** The end of the record at `start`, or -1. A string without quote, backslash and line end is written as it is. */
  #matchRecord(text: string, start: number, marks: Marks): number {
    const literals = this.#literals;
    const first = literals[0] ?? '';
    if (!text.startsWith(first, start)) return -1;
    let at = start + first.length;
    let held = 0;
    for (let hole = 0; hole + 1 < literals.length; hole++) {
      const literal = literals[hole + 1] ?? '';
      const end = text.indexOf(QUOTE, at);
      if (end === -1 || !text.startsWith(literal, end) || marks.within(at, end)) return -1;
      if (hole === this.#countedHole) {
        held = end - at;
        this.#heldFrom = at;
        this.#heldTo = end;
      }
      at = end + literal.length;
    }
    this.heldBytes += held;
    return at;
  }
}

/** Learns from record to record and skims what is alike; counts the bytes that the model said in what it skimmed. */
export class RecordSkimmer {
  #template: RecordTemplate | null = null;
  #isReasoning = false;
  #heldBytes = 0;
  #heldReasoningBytes = 0;

  /** Bytes in the counted holes of all records that were skimmed. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Of them, those in likenesses of records that were learnt as reasoning. */
  get heldReasoningBytes(): number {
    return this.#heldReasoningBytes;
  }

  /** As `RecordTemplate.skim`, once something was learnt. */
  skim(bytes: Uint8Array, start: number, onHeld: ((held: string) => void) | null = null): number {
    if (this.#template === null) return start;
    const end = this.#template.skim(bytes, start, onHeld);
    this.#heldBytes += this.#template.heldBytes;
    if (this.#isReasoning) this.#heldReasoningBytes += this.#template.heldBytes;
    return end;
  }

  /** Takes the record for the likeness of those that follow; see `learnTemplate`. False: it cannot be one. */
  learn(
    record: SseRecord,
    holes: ReadonlyArray<readonly [key: string, value: string]>,
    isReasoning: boolean = false,
  ): boolean {
    this.#isReasoning = isReasoning;
    this.#template = learnTemplate(rawLatin1(record), holes);
    return this.#template !== null;
  }

  /** What follows is no longer like what was learnt. */
  forget(): void {
    this.#template = null;
  }
}

/** The next backslash and line ends of a text, looked for once each and not again for every record. */
class Marks {
  readonly #text: string;
  #backslash = -1;
  #lineFeed = -1;
  #carriageReturn = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether one of them stands in `[start, end)`. Asked with growing starts. */
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
 * Learns a template from a whole record with one hole per key; the first key's is the counted one. Null where a hole's
 * place is not certain (the key occurs twice, its value has an escape), or the record does not end in two line feeds.
 */
export function learnTemplate(
  raw: string,
  holes: ReadonlyArray<readonly [key: string, value: string]>,
): RecordTemplate | null {
  if (!raw.endsWith(RECORD_END)) return null;
  const spans: Array<{ readonly start: number; readonly end: number; readonly counted: boolean }> = [];
  for (const [key, value] of holes) {
    const bytes = Buffer.from(value).toString('latin1');
    if (/["\\\r\n]/.test(bytes)) return null;
    const opening = `"${key}":"`;
    const at = raw.indexOf(opening);
    const start = at + opening.length;
    if (at === -1 || raw.indexOf(opening, start) !== -1 || !raw.startsWith(`${bytes}${QUOTE}`, start)) return null;
    spans.push({ start, end: start + bytes.length, counted: spans.length === 0 });
  }
  spans.sort((one, other) => one.start - other.start);
  const literals: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    literals.push(raw.slice(from, start));
    from = end;
  }
  literals.push(raw.slice(from));
  return new RecordTemplate(
    literals,
    spans.findIndex(({ counted }) => counted),
  );
}
