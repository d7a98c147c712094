/**
 * Names, heads and lists the journal's segments: preallocated files of blocks, numbered in ascending order. A head takes
 * 4,096 bytes, little-endian: magic u32, version u32, stream (16 bytes), epoch u32, number u32, first u64, after u64,
 * SHA-256 of these. A segment without a head is a spare: full of zeros, for the blocks to come.
 */
import { join } from 'node:path';
import { Unavailable } from '../ports/store-errors.ts';
import { HASH_BYTES, readU64, writeU64 } from './block.ts';
import type { FilePort } from './file-port.ts';

export const SEGMENT_HEAD_BYTES = 4096;
export const STREAM_BYTES = 16;
export const SEGMENT_BYTES = 8 * 1024 * 1024;

/** Raised with each new kind of frame: an older program then refuses the folder as a whole. 2: detachments. */
const VERSION = 2;
const MAGIC = 0xfe_53_54_ff;
const HASH_AT = 48;
const FILL_BYTES = 1024 * 1024;

export interface SegmentHead {
  readonly stream: Uint8Array;
  readonly epoch: number;
  readonly number: number;
  /**
   * The last block that counts of the segments before this one; it was durable when this head was written. The segment's
   * own blocks follow it.
   */
  readonly after: number;
}

export interface Segment {
  readonly number: number;
  readonly path: string;
  /** Null: a spare, or damaged. */
  readonly head: SegmentHead | null;
  /** Whether nothing has been written to it. */
  readonly isSpare: boolean;
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, '0')}.seg`);
}

export function renderHead({ stream, epoch, number, after }: SegmentHead): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEAD_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(VERSION, 4);
  bytes.set(stream, 8);
  bytes.writeUInt32LE(epoch, 24);
  bytes.writeUInt32LE(number, 28);
  writeU64(bytes, after + 1, 32);
  writeU64(bytes, after, 40);
  bytes.set(hashOf(bytes), HASH_AT);
  return bytes;
}

function hashOf(head: Buffer): Uint8Array {
  return Bun.SHA256.hash(head.subarray(0, HASH_AT)) as Uint8Array;
}

/** Null where the bytes are no head of that segment. */
function parseHead(bytes: Buffer, number: number, path: string): SegmentHead | null {
  if (bytes.readUInt32LE(0) !== MAGIC) return null;
  if (!bytes.subarray(HASH_AT, HASH_AT + HASH_BYTES).equals(hashOf(bytes))) return null;
  const version = bytes.readUInt32LE(4);
  if (version < 1 || version > VERSION) {
    throw new Unavailable(
      'incompatible',
      `${path} was written by another version (its format is ${version}, expected 1 to ${VERSION}). Start that version, or a newer one.`,
    );
  }
  if (bytes.readUInt32LE(28) !== number) return null;
  return {
    stream: Buffer.from(bytes.subarray(8, 8 + STREAM_BYTES)),
    epoch: bytes.readUInt32LE(24),
    number,
    after: readU64(bytes, 40),
  };
}

/** The segments of a folder by ascending number. Heads of `known` segments are not read again. */
export function listSegments(files: FilePort, folder: string, known: readonly Segment[] = []): Segment[] {
  const headed = new Map(known.filter(hasHead).map((segment) => [segment.number, segment]));
  const names = files.list(folder).filter((name) => /^\d{8}\.seg$/.test(name));
  return names.sort().flatMap((name) => {
    const number = Number(name.slice(0, 8));
    return headed.get(number) ?? readSegment(files, join(folder, name), number) ?? [];
  });
}

/** Null: it was removed meanwhile. */
function readSegment(files: FilePort, path: string, number: number): Segment | null {
  let file: number;
  try {
    file = files.open(path, 'read');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  }
  try {
    // With the beginning of the first block.
    const bytes = Buffer.alloc(SEGMENT_HEAD_BYTES * 2);
    files.read(file, bytes, 0);
    const head = parseHead(bytes, number, path);
    return { number, path, head, isSpare: bytes.every((byte) => byte === 0) };
  } finally {
    files.close(file);
  }
}

/** The segment that holds this block if any does: later segments cut the ones before them. */
export function segmentOf(segments: readonly Segment[], seq: number): (Segment & { head: SegmentHead }) | null {
  for (let index = segments.length - 1; index >= 0; index--) {
    const segment = segments[index];
    if (segment !== undefined && hasHead(segment) && segment.head.after < seq) return segment;
  }
  return null;
}

function hasHead(segment: Segment): segment is Segment & { head: SegmentHead } {
  return segment.head !== null;
}

/**
 * Creates a spare, or makes one of what is left of one: real zeros on the disk, under a durable name. Resolves with the
 * open file; rejects with the system's error, and then gives back what the disk took.
 */
export async function prepareSpare(files: FilePort, folder: string, number: number, bytes: number): Promise<number> {
  const path = segmentPath(folder, number);
  const file = files.open(path, 'create');
  try {
    for (let at = 0; at < bytes; at += FILL_BYTES) await files.fill(file, Math.min(FILL_BYTES, bytes - at), at);
    await datasync(files, file);
    await files.syncFolder(folder);
    return file;
  } catch (fault) {
    files.close(file);
    await files.remove(path).catch(() => undefined);
    throw fault;
  }
}

export function datasync(files: FilePort, file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    files.datasync(file, (fault) => (fault ? reject(fault) : resolve()));
  });
}
