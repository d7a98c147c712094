/** Reads the spool of a data folder from before the journal: settlements that the database did not take in time. */
import { createHash } from 'node:crypto';

/**
 * Frame header, in bytes: `magic` 8, `sequence` 4, `length` 4 (both big-endian), SHA-256 of sequence, length and
 * payload 32. The payload follows.
 */
const HEADER_BYTES = 48;
const MAGIC = Buffer.from('TGSPOOL1', 'latin1');
const CHECKED_FROM = 8;
const DIGEST_AT = 16;

/** The contents of a spool file. */
interface SpoolContents {
  /** The complete entries, in order. */
  readonly entries: readonly string[];
  /**
   * Describes data that is not a complete entry; null: none. At the end of the file it is a write cut off by a crash,
   * which was never reported as stored; before a complete entry it is damage.
   */
  readonly problem: string | null;
}

/** Parses a whole file. Skips entries with a wrong checksum; accepts complete entries after them. */
export function readOldSpool(file: Buffer): SpoolContents {
  const entries: string[] = [];
  let last = 0;
  let problem: string | null = null;
  for (let at = 0; !isBlankFrame(file, at); ) {
    const frame = frameAt(file, at, last + 1);
    if (frame !== null) {
      last = frame.readUInt32BE(CHECKED_FROM);
      entries.push(frame.toString('utf8', HEADER_BYTES));
      at += frame.length;
      continue;
    }
    const next = findFrame(file, at + 1, last + 1);
    problem ??=
      next === null
        ? `what follows entry ${last} of the spool, at byte ${at}, was cut off by a crash while it was written`
        : `the spool is damaged behind entry ${last}, at byte ${at}`;
    if (next === null) break;
    at = next;
  }
  return { entries, problem };
}

/** True where the next header is all zeros or beyond the end of the file. */
function isBlankFrame(file: Buffer, at: number): boolean {
  return file.subarray(at, at + HEADER_BYTES).every((byte) => byte === 0);
}

/** Returns the complete frame at the offset; null: none, or one with a lower sequence number. */
function frameAt(file: Buffer, at: number, sequenceMin: number): Buffer | null {
  if (!file.subarray(at, at + MAGIC.length).equals(MAGIC) || at + HEADER_BYTES > file.length) return null;
  const end = at + HEADER_BYTES + file.readUInt32BE(at + CHECKED_FROM + 4);
  if (end > file.length || file.readUInt32BE(at + CHECKED_FROM) < sequenceMin) return null;
  const frame = file.subarray(at, end);
  return digestOf(frame).equals(frame.subarray(DIGEST_AT, HEADER_BYTES)) ? frame : null;
}

function findFrame(file: Buffer, from: number, sequenceMin: number): number | null {
  for (let at = file.indexOf(MAGIC, from); at !== -1; at = file.indexOf(MAGIC, at + 1)) {
    if (frameAt(file, at, sequenceMin) !== null) return at;
  }
  return null;
}

function digestOf(frame: Buffer): Buffer {
  return createHash('sha256')
    .update(frame.subarray(CHECKED_FROM, DIGEST_AT))
    .update(frame.subarray(HEADER_BYTES))
    .digest();
}
