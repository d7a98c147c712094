/** Cuts JSON lines into lines as their bytes arrive; holds one line at a time. */

/** One line that is not blank. */
export interface JsonLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Without the line feed. */
  readonly bytes: Uint8Array;
}

/** A line is longer than the caller takes. */
export class LineTooLong extends RangeError {
  constructor(readonly number: number) {
    super(`line ${number} is too long`);
  }
}

/** There are more lines than the caller takes, blank ones included. */
export class TooManyLines extends RangeError {
  constructor(readonly most: number) {
    super(`more than ${most} lines`);
  }
}

const LINE_FEED = 0x0a;
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

/** Throws LineTooLong, TooManyLines, and whatever `chunks` throws. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
  linesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<JsonLine, void, undefined> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (isEnded: boolean): JsonLine | null => {
    const [first] = parts;
    if (number > linesMax && (isEnded || length > 0)) throw new TooManyLines(linesMax);
    const bytes = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    const line = bytes.every((byte) => BLANK.has(byte)) ? null : { number, bytes };
    number += 1;
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    for (let from = 0; ; ) {
      const feed = chunk.indexOf(LINE_FEED, from);
      const part = chunk.subarray(from, feed === -1 ? chunk.length : feed);
      length += part.length;
      if (length > lineBytesMax) throw new LineTooLong(number);
      parts.push(part);
      if (feed === -1) break;
      from = feed + 1;
      const line = take(true);
      if (line !== null) yield line;
    }
  }
  const last = take(false);
  if (last !== null) yield last;
}
