/** Owns the questions about an event stream's bytes that a relay asks beside their meaning: what is one, where a record ends. */
import type { SseRecord, SseSkimmed } from '../../framing/sse-record.ts';

const LF = 10;
const CR = 13;
const NOTHING = Buffer.alloc(0);
const LINE_FEED = Buffer.from('\n');
/** Ends a record whose sender left that out. */
export const BLANK_LINE = Buffer.from('\n\n');

export function isEventStream(contentType: string): boolean {
  return contentType.trim().toLowerCase().startsWith('text/event-stream');
}

/** Whether a body that names itself otherwise begins with `data`, `event` or a comment: no JSON text begins like that. */
export function beginsLikeEvents(span: Uint8Array): boolean {
  return span.length > 0 && 'de:'.includes(String.fromCharCode(span[0] ?? 0));
}

/**
 * Keeps CR LF whole around withheld records. A record that ends in CR LF is known to end at its CR; where the stream was
 * divided there, its LF begins the next record, and withholding that one must neither lose nor double a LF.
 */
export class LineEndKeeper {
  #surplus = false;

  /** Where a record that is passed on begins: behind a LF that belonged to a withheld one. */
  startOf({ bytes, start }: SseRecord | SseSkimmed): number {
    const isSurplus = this.#surplus && bytes[start] === LF;
    this.#surplus = false;
    return isSurplus ? start + 1 : start;
  }

  /** What of a withheld record the client gets all the same: the LF of the record before it. */
  withheld(record: SseRecord): Uint8Array {
    const { bytes, start, end } = record;
    const begins = bytes[start] === LF;
    const isCut = bytes[end - 1] === CR;
    this.#surplus = isCut && !begins;
    return begins && !isCut ? LINE_FEED : NOTHING;
  }

  /** A record that is passed on, less a LF that belonged to a withheld one. */
  passed(raw: Uint8Array): Uint8Array {
    const isSurplus = this.#surplus && raw[0] === LF;
    this.#surplus = false;
    return isSurplus ? raw.subarray(1) : raw;
  }
}

/** A record that nothing follows: where its lines end in CR LF and the last LF has not come yet, with that LF. */
export function wholeRecord(bytes: Uint8Array): Buffer {
  const raw = Buffer.from(bytes);
  return raw.at(-1) === CR && raw.includes('\r\n') ? Buffer.concat([raw, LINE_FEED]) : raw;
}
