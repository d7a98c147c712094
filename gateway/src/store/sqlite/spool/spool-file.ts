/**
 * Reads and writes the spool file: appends entries durably into disk space reserved in advance, so that a full disk
 * still accepts them, and parses the checksummed frames. Only the serving process writes to it.
 */

import { createHash } from 'node:crypto';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ReachFailpoint } from '../failpoints.ts';

export interface SpoolFile {
  /**
   * Resolves once the entry is on disk; calls `onKept` before any other work on the file begins. Rejects with the
   * disk's fault where the entry is not stored; later entries may succeed.
   */
  append(entry: string, onKept: () => void): Promise<void>;
  /** Runs the work while no entry is being appended. Where it returns `true`, removes every entry from the file. */
  drainBy(work: () => Promise<boolean>): Promise<void>;
  /**
   * Reserves this many bytes on disk, as zeros; never shrinks. Rejects where the disk has no room; existing space
   * stays.
   */
  reserve(bytes: number): Promise<void>;
  /** Bytes reserved on disk. */
  readonly roomBytes: number;
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: string;
  readonly onKept: () => void;
  readonly resolve: () => void;
  readonly reject: (fault: unknown) => void;
}

const ZEROS = Buffer.alloc(256 * 1024);
/** The unit of `blocks` in `stat`, whatever the file system's block size. */
const BLOCK_BYTES = 512;

/** Opens the file (mode 0600) and empties it: earlier entries must be in the ledger or stored elsewhere. */
export async function openSpoolFile(path: string, reach: ReachFailpoint): Promise<SpoolFile> {
  await (await open(path, 'a', 0o600)).close();
  const file = await open(path, 'r+');
  let roomBytes = 0;
  try {
    const { size, blocks } = await file.stat();
    if (!(await isBlank(file, size))) await wipe(file, size);
    // A copied file may have holes, which reserve no space.
    roomBytes = blocks * BLOCK_BYTES < size ? 0 : size;
  } catch (fault) {
    await file.close();
    throw fault;
  }
  let endBytes = 0;
  let sequence = 0;
  /** The file's entries are in the ledger but could not be removed yet. */
  let isStale = false;
  let waiting: Waiting[] = [];
  /** Serializes work on the file. */
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = turn.then(work);
    turn = outcome.catch(() => undefined);
    return outcome;
  }

  async function empty(): Promise<void> {
    isStale = true;
    await wipe(file, endBytes);
    isStale = false;
    endBytes = 0;
    sequence = 0;
  }

  async function writeWaiting(): Promise<void> {
    const taken = waiting;
    waiting = [];
    if (taken.length === 0) return;
    try {
      if (isStale) await empty();
      const frames = Buffer.concat(taken.map(({ entry }, index) => renderFrame(sequence + index + 1, entry)));
      reach('before-spool-append');
      await writeDurably(frames);
      reach('after-spool-append');
      for (const { onKept, resolve } of taken) {
        onKept();
        resolve();
      }
    } catch (fault) {
      for (const { reject } of taken) reject(fault);
    }

    async function writeDurably(frames: Buffer): Promise<void> {
      try {
        await writeAll(file, frames, endBytes);
        await file.datasync();
      } catch (fault) {
        // These entries are reported as failed, so remove them where the disk allows it.
        await wipe(file, frames.length, endBytes).catch(() => undefined);
        throw fault;
      }
      endBytes += frames.length;
      sequence += taken.length;
      roomBytes = Math.max(roomBytes, endBytes);
    }
  }

  async function reserve(bytes: number): Promise<void> {
    if (bytes <= roomBytes) return;
    await writeZeros(file, roomBytes, bytes);
    await file.sync();
    await syncFolder(dirname(path));
    roomBytes = bytes;
  }

  return {
    append(entry, onKept) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, onKept, resolve, reject });
        // Entries that arrive while the file is busy share one write.
        if (waiting.length === 1) void inTurn(writeWaiting);
      });
    },
    drainBy: (work) =>
      inTurn(async () => {
        if (await work()) await empty();
      }),
    reserve: (bytes) => inTurn(() => reserve(bytes)),
    get roomBytes() {
      return roomBytes;
    },
    close: () => inTurn(() => file.close()),
  };
}

/** Copies the spool file within its folder; returns the copy's path. */
export async function setSpoolAside(path: string, nowMs: number): Promise<string> {
  const aside = `${path}.kept-${nowMs}`;
  await copyFile(path, aside);
  const copy = await open(aside, 'r+');
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
  await syncFolder(dirname(path));
  return aside;
}

/**
 * Overwrites bytes with zeros. The first header is wiped and synced first, so that a crash in between leaves an empty
 * spool.
 */
async function wipe(file: FileHandle, bytes: number, fromBytes = 0): Promise<void> {
  if (bytes === 0) return;
  await writeZeros(file, fromBytes, fromBytes + Math.min(bytes, HEADER_BYTES));
  await file.datasync();
  await writeZeros(file, fromBytes + HEADER_BYTES, fromBytes + bytes);
  await file.datasync();
}

async function writeZeros(file: FileHandle, fromBytes: number, toBytes: number): Promise<void> {
  for (let at = fromBytes; at < toBytes; at += ZEROS.length) {
    await writeAll(file, ZEROS.subarray(0, Math.min(ZEROS.length, toBytes - at)), at);
  }
}

async function isBlank(file: FileHandle, bytes: number): Promise<boolean> {
  const read = Buffer.alloc(ZEROS.length);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(read, 0, read.length, at);
    if (bytesRead === 0 || !read.subarray(0, bytesRead).equals(ZEROS.subarray(0, bytesRead))) return false;
    at += bytesRead;
  }
  return true;
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the disk took no byte of the spool');
    done += bytesWritten;
  }
}

/** Syncs a folder: a file's name is durable once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Frame header, in bytes: `magic` 8, `sequence` 4, `length` 4 (both big-endian), SHA-256 of sequence, length and
 * payload 32. The payload follows.
 */
export const HEADER_BYTES = 48;
const MAGIC = Buffer.from('TGSPOOL1', 'latin1');
const CHECKED_FROM = 8;
const DIGEST_AT = 16;

/** The contents of a spool file. */
interface SpoolContents {
  /** The complete entries, in order. */
  readonly entries: readonly string[];
  /** The offset after the last entry; 0: there is none. */
  readonly endBytes: number;
  /**
   * Describes data that is not a complete entry; null: none. At the end of the file it is a write cut off by a crash,
   * which was never reported as stored; before a complete entry it is damage.
   */
  readonly problem: string | null;
}

/** Renders an entry as bytes; `sequence` counts the entries of the file from 1. */
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

/** Parses a whole file. Skips entries with a wrong checksum; accepts complete entries after them. */
export function readFrames(file: Buffer): SpoolContents {
  const entries: string[] = [];
  let endBytes = 0;
  let last = 0;
  let problem: string | null = null;
  for (let at = 0; !isBlankFrame(file, at); ) {
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
