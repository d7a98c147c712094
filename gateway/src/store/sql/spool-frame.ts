/**
 * Owns the bytes of the spool: how an entry lies in a file whose rest is zeros, and what a reader finds there after any
 * crash. Knows neither the file nor what an entry says.
 */
import { createHash } from 'node:crypto';

/** `magic` 8, `sequence` 4, `length` 4 (both big-endian), SHA-256 of sequence, length and payload 32; then the payload. */
export const HEADER_BYTES = 48;
const MAGIC = Buffer.from('TGSPOOL1', 'latin1');
const CHECKED_FROM = 8;
const DIGEST_AT = 16;

/** What lies in a spool. */
export interface SpoolContents {
  /** The entries that are whole, in their order. */
  readonly entries: readonly string[];
  /** The byte behind the last of them; 0: there is none. */
  readonly endBytes: number;
  /**
   * What is there and is no whole entry; null: nothing. At the end it is what a crash cut off, which nobody was told was
   * kept; before a whole entry it is damage.
   */
  readonly problem: string | null;
}

/** The bytes of an entry; `sequence` counts the entries of the file from 1. */
export function renderFrame(sequence: number, entry: string): Buffer {
  const payload = Buffer.from(entry, 'utf8');
  const frame = Buffer.alloc(HEADER_BYTES + payload.length);
  MAGIC.copy(frame);
  frame.writeUInt32BE(sequence, CHECKED_FROM);
  frame.writeUInt32BE(payload.length, CHECKED_FROM + 4);
  payload.copy(frame, HEADER_BYTES);
  digestOf(frame).copy(frame, DIGEST_AT);
  return frame;
}

/** Reads a whole file. An entry whose sum does not fit is never taken; those behind it that are whole are. */
export function readFrames(file: Buffer): SpoolContents {
  const entries: string[] = [];
  let endBytes = 0;
  let last = 0;
  let problem: string | null = null;
  for (let at = 0; !isBlank(file, at); ) {
    const frame = frameAt(file, at, last + 1);
    if (frame !== null) {
      last = frame.readUInt32BE(CHECKED_FROM);
      entries.push(frame.toString('utf8', HEADER_BYTES));
      at += frame.length;
      endBytes = at;
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
  return { entries, endBytes, problem };
}

/** The header that is to come is all zeros, or lies behind the file's end. */
function isBlank(file: Buffer, at: number): boolean {
  return file.subarray(at, at + HEADER_BYTES).every((byte) => byte === 0);
}

/** The whole frame that begins there; null: there is none, or one that came before. */
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
