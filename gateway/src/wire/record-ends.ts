/** Owns finding where records of an event stream end, by their blank lines alone. Reads no record. */

const LF = 0x0a;
const CR = 0x0d;

/**
 * The end of the last whole record within `bytes[from, to)`, found backwards; `from` where none ends there. A blank line whose first
 * line end lies before `from` is not seen.
 */
export function lastRecordEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let end = to; end > from; end--) if (endsRecord(bytes, from, end)) return end;
  return from;
}

/** As `lastRecordEnd`, of the first one; `to` where none ends there. */
export function firstRecordEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let end = from + 1; end <= to; end++) if (endsRecord(bytes, from, end)) return end;
  return to;
}

/** Whether a blank line ends right before `end`. A CR LF is one line end, of which the LF is the last byte. */
function endsRecord(bytes: Uint8Array, from: number, end: number): boolean {
  const last = bytes[end - 1];
  if (end - from < 2 || (last !== LF && last !== CR)) return false;
  const before = bytes[end - 2];
  if (last === CR) return before === CR;
  if (before === LF) return true;
  return before === CR && end - from > 2 && bytes[end - 3] === LF;
}
