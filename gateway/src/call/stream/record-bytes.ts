/**
 * Chooses the bytes that a streaming client gets for a record: upstream's own, with the line ends around withheld
 * records kept intact, or, if formats differ, only rewritten ones.
 */
import { rawBytes, type SkimmedRecords, type StreamRecord } from '../../framing/framing.ts';

const LF = 10;
const CR = 13;
const NOTHING = Buffer.alloc(0);
const LINE_FEED = Buffer.from('\n');
/** Ends a record whose sender omitted the blank line. */
const BLANK_LINE = Buffer.from('\n\n');

/**
 * Keeps CR LF intact around withheld records. A record that ends in CR LF is treated as ending at its CR; if the stream
 * was split there, its LF begins the next record, and withholding that one must neither lose nor duplicate an LF.
 */
export class LineEndKeeper {
  #surplus = false;

  /** The start of a record that is passed on: after an LF that belonged to a withheld record. */
  startOf({ bytes, start }: StreamRecord | SkimmedRecords): number {
    const isSurplus = this.#surplus && bytes[start] === LF;
    this.#surplus = false;
    return isSurplus ? start + 1 : start;
  }

  /** The bytes of a withheld record that the client still gets: the LF of the previous record. */
  withheld(record: StreamRecord): Uint8Array {
    const { bytes, start, end } = record;
    const begins = bytes[start] === LF;
    const isCut = bytes[end - 1] === CR;
    this.#surplus = isCut && !begins;
    return begins && !isCut ? LINE_FEED : NOTHING;
  }

  /** A record that is passed on, without an LF that belonged to a withheld record. */
  passed(raw: Uint8Array): Uint8Array {
    const isSurplus = this.#surplus && raw[0] === LF;
    this.#surplus = false;
    return isSurplus ? raw.subarray(1) : raw;
  }
}

/** The last record of a stream; appends the final LF if its lines end in CR LF and that LF has not arrived. */
export function wholeRecord(bytes: Uint8Array): Buffer {
  const raw = Buffer.from(bytes);
  return raw.at(-1) === CR && raw.includes('\r\n') ? Buffer.concat([raw, LINE_FEED]) : raw;
}

export interface ClientBytes {
  /** For a record without content: a comment, a blank line, a ping. */
  silent(record: StreamRecord): Uint8Array;
  /** Offset of the client's bytes in a record that is passed on. */
  startOf(record: StreamRecord | SkimmedRecords): number;
  /** For a record that is replaced. */
  replaced(replacement: Uint8Array): Uint8Array;
  /** For a record that is withheld. */
  withheld(record: StreamRecord): Uint8Array;
  /** For the last record of the stream. */
  last(record: StreamRecord, replacement: Buffer | null): Buffer;
  /** Sent after a record that no blank line ended. */
  readonly missingBlank: Uint8Array;
}

/** Upstream's bytes unchanged, with the line ends around withheld records kept intact. */
export function bytesAsTheyCame(): ClientBytes {
  const lineEnds = new LineEndKeeper();
  return {
    silent: (record) => lineEnds.passed(rawBytes(record)),
    startOf: (record) => lineEnds.startOf(record),
    replaced: (replacement) => lineEnds.passed(replacement),
    withheld: (record) => lineEnds.withheld(record),
    last: (record) => wholeRecord(lineEnds.passed(rawBytes(record))),
    missingBlank: BLANK_LINE,
  };
}

/** None of upstream's bytes; only replacements. */
export const rewrittenBytes: ClientBytes = {
  silent: () => NOTHING,
  startOf: (record) => record.end,
  replaced: (replacement) => replacement,
  withheld: () => NOTHING,
  last: (_record, replacement) => replacement ?? NOTHING,
  missingBlank: NOTHING,
};
