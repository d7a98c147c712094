/** Finds line ends and record ends in the bytes of an event stream by native search. A CRLF is found by its CR. */

/**
 * The end of the last complete record within `bytes[from, to)`, searched backwards; `from` if no record ends there. A
 * blank line whose first line end comes before `from` is not detected.
 */
export function lastRecordEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let end = to; end > from; end--) if (endsRecord(bytes, from, end)) return end;
  return from;
}

/** Like `lastRecordEnd`, for the first record; `to` if no record ends there. */
export function firstRecordEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let end = from + 1; end <= to; end++) if (endsRecord(bytes, from, end)) return end;
  return to;
}

/** Whether a blank line ends right before `end`. A CRLF is one line end; its last byte is the LF. */
function endsRecord(bytes: Uint8Array, from: number, end: number): boolean {
  const last = bytes[end - 1];
  if (end - from < 2 || (last !== LF && last !== CR)) return false;
  const before = bytes[end - 2];
  if (last === CR) return before === CR;
  if (before === LF) return true;
  return before === CR && end - from > 2 && bytes[end - 3] === LF;
}

const LF = 0x0a;
const CR = 0x0d;

/** Whether a byte ends a line. */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** The position after the line end at `at`. A CR includes a LF that follows it. */
export function behindLineEnd(bytes: Uint8Array, at: number): number {
  return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1;
}

/**
 * Searches one byte array forwards. Remembers the nearest LF and CR, so that a stream with only one of them is not
 * searched to its end for the other at each line.
 */
export class LineEnds {
  #bytes: Uint8Array = new Uint8Array(0);
  #nextLf = -1;
  #nextCr = -1;

  /** Switches to other bytes, or to the same array with new content. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#nextLf = -1;
    this.#nextCr = -1;
  }

  /** The first line end at or after `from`, or the length of the bytes. `from` must not decrease. */
  next(from: number): number {
    if (this.#nextLf < from) this.#nextLf = this.#find(LF, from);
    if (this.#nextCr < from) this.#nextCr = this.#find(CR, from);
    return Math.min(this.#nextLf, this.#nextCr);
  }

  #find(byte: number, from: number): number {
    const found = this.#bytes.indexOf(byte, from);
    return found === -1 ? this.#bytes.length : found;
  }
}
