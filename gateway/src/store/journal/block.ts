/**
 * Reads and writes blocks of the journal. A block is one group commit, little-endian: magic u32, length u32 (of all of
 * it), frames u32, seq u64, synced u64, prev (32 bytes), hash (32), body. The hash is SHA-256 over the header without the
 * hash, and the body. `docs/decisions/0029-journal.md` gives the reasons.
 */

/** A block, and the epoch of its segment. */
export interface Block {
  readonly epoch: number;
  /** Counts blocks from 1, over all epochs. */
  readonly seq: number;
  /** The last block that was known to be durable when this one was written. */
  readonly synced: number;
  /** How many frames the body has. */
  readonly frames: number;
  /** The hash of the block before it; of an epoch's first block see `hashEpochStart`. */
  readonly prev: Buffer;
  readonly hash: Buffer;
  /** The whole block, as it is on the disk. */
  readonly bytes: Buffer;
  readonly body: Buffer;
}

export const HASH_BYTES = 32;
export const BLOCK_HEAD_BYTES = 92;
/** No block is longer; a longer one is damaged. */
const BLOCK_BYTES_MAX = 8 * 1024 * 1024;

/** The first and the last byte occur in no UTF-8 text: no caller can make a frame that looks like a block. */
const MAGIC = Buffer.from([0xff, 0x54, 0x47, 0xfe]);
const LENGTH_AT = 4;
const FRAMES_AT = 8;
const SEQ_AT = 12;
const SYNCED_AT = 20;
const PREV_AT = 28;
const HASH_AT = 60;
const TWO_32 = 0x1_0000_0000;

export function writeU64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % TWO_32, at);
  bytes.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

/** Beyond 2^53 the result is inexact, and no number of a block. */
export function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * TWO_32 + bytes.readUInt32LE(at);
}

/**
 * Completes a block: `bytes` begins with `BLOCK_HEAD_BYTES` of free space, then the body. Writes the block's hash into
 * `hash` too.
 */
export function sealBlock(
  bytes: Buffer,
  frames: number,
  seq: number,
  synced: number,
  prev: Uint8Array,
  hash: Uint8Array,
): void {
  // The header without the hash is laid directly before the body first, so that one call hashes both.
  const at = HASH_BYTES;
  bytes.set(MAGIC, at);
  bytes.writeUInt32LE(bytes.length, at + LENGTH_AT);
  bytes.writeUInt32LE(frames, at + FRAMES_AT);
  writeU64(bytes, seq, at + SEQ_AT);
  writeU64(bytes, synced, at + SYNCED_AT);
  bytes.set(prev, at + PREV_AT);
  Bun.SHA256.hash(bytes.subarray(at), hash);
  bytes.copyWithin(0, at, BLOCK_HEAD_BYTES);
  bytes.set(hash, HASH_AT);
}

/** The length that the header at `at` states; 0: there is no header of a block. */
export function statedLength(bytes: Buffer, at: number): number {
  if (bytes.length - at < BLOCK_HEAD_BYTES || MAGIC.compare(bytes, at, at + MAGIC.length) !== 0) return 0;
  const length = bytes.readUInt32LE(at + LENGTH_AT);
  return length < BLOCK_HEAD_BYTES || length > BLOCK_BYTES_MAX ? 0 : length;
}

/** The number that the header at `at` states. */
export function statedSeq(bytes: Buffer, at: number): number {
  return readU64(bytes, at + SEQ_AT);
}

const hasher = new Bun.CryptoHasher('sha256');

/** Parses the block at `at` if all of it is there and its hash is right; otherwise null. Does not copy. */
export function parseBlock(bytes: Buffer, at: number, epoch: number): Block | null {
  const length = statedLength(bytes, at);
  if (length === 0 || at + length > bytes.length) return null;
  const block = bytes.subarray(at, at + length);
  const hash = block.subarray(HASH_AT, BLOCK_HEAD_BYTES);
  const body = block.subarray(BLOCK_HEAD_BYTES);
  hasher.update(block.subarray(0, HASH_AT));
  hasher.update(body);
  if (hasher.digest().compare(hash) !== 0) return null;
  return {
    epoch,
    seq: readU64(block, SEQ_AT),
    synced: readU64(block, SYNCED_AT),
    frames: block.readUInt32LE(FRAMES_AT),
    prev: block.subarray(PREV_AT, HASH_AT),
    hash,
    bytes: block,
    body,
  };
}

/** Finds the next block at or after `from` whose hash is right, wherever it begins. */
export function findBlock(bytes: Buffer, from: number, epoch: number): { at: number; block: Block } | null {
  for (let at = bytes.indexOf(MAGIC, from); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const block = parseBlock(bytes, at, epoch);
    if (block !== null) return { at, block };
  }
  return null;
}

/** The `prev` of an epoch's first block: it fits one stream, one epoch, and one block before it. */
export function hashEpochStart(stream: Uint8Array, epoch: number, head: Uint8Array): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(epoch);
  for (const part of [Buffer.from('tollgate epoch'), stream, number, head]) hasher.update(part);
  return hasher.digest();
}
