/** Proves the journal's blocks: the chain of their hashes, their frames, and the rows that were made of them. */
import type { Database } from 'bun:sqlite';
import { type Block, hashEpochStart, parseBlock } from '../../journal/block.ts';
import { decodeFrames } from '../../journal/decode-frames.ts';
import { JournalFormatError } from '../../journal/frame-reader.ts';
import type { Frame, JournalEnd } from '../../ports/journal.ts';
import { atBlock, LedgerInvariantError, placed } from './ledger-invariant-error.ts';
import type { FramesProof } from './prove-frames.ts';

/** The journal as far as it was proved. */
export interface ChainEnd extends JournalEnd {
  /** 16 bytes. */
  readonly stream: Uint8Array;
}

/** Compares the rows of one block with its frames. */
export interface BlockRows {
  /** Before the first frame of a block. */
  begin(seq: number): void;
  /** After the frame was proved. `held`: all that the call held, where the frame ends one. @throws LedgerInvariantError */
  take(frame: Frame, held: bigint | null): void;
  /** After the last frame of a block. @throws LedgerInvariantError */
  finish(): void;
}

interface BlockRow {
  readonly seq: number;
  readonly epoch: number;
  readonly frames: number;
  readonly prev: Uint8Array;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

/** One at a time: a block may have megabytes. */
const READ_BLOCKS = 'SELECT seq, epoch, frames, prev, hash, bytes FROM block WHERE seq > ? ORDER BY seq';

/** Yields the blocks of the table after a number. @throws LedgerInvariantError where a row is not the block that its bytes are */
export function* readStoredBlocks(database: Database, afterSeq = 0): Iterable<Block> {
  const read = database.prepare<BlockRow, [number]>(READ_BLOCKS);
  try {
    for (const row of read.iterate(afterSeq)) yield blockOf(row);
  } finally {
    read.finalize();
  }
}

function blockOf({ seq, epoch, frames, prev, hash, bytes }: BlockRow): Block {
  const block = parseBlock(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, epoch);
  if (block === null || block.bytes.length !== bytes.length)
    throw new LedgerInvariantError('its hash does not follow from its bytes', atBlock(seq));
  const differs = block.seq !== seq || block.frames !== frames || !block.prev.equals(prev) || !block.hash.equals(hash);
  if (differs) throw new LedgerInvariantError('its row says something else than its bytes', atBlock(seq));
  return block;
}

/**
 * Proves the blocks that follow `from`, and tells `onBlock` each number and hash. `rows`: compares what was made of them.
 *
 * @throws LedgerInvariantError, as does the iteration of the blocks
 */
export function proveBlocks(
  blocks: Iterable<Block>,
  from: ChainEnd,
  proof: FramesProof,
  rows: BlockRows,
  onBlock: (number: number, hash: string) => void,
): ChainEnd {
  let { epoch, seq, head } = from;
  for (const block of blocks) {
    if (block.seq !== seq + 1)
      throw new LedgerInvariantError(`block ${seq + 1} is missing; the next is ${block.seq}`, atBlock(seq + 1));
    seq = block.seq;
    try {
      followChain(block, { stream: from.stream, epoch, seq, head });
      proveFrames(block, proof, rows);
    } catch (fault) {
      throw placed(fault, atBlock(seq));
    }
    epoch = block.epoch;
    head = Uint8Array.from(block.hash);
    onBlock(seq, block.hash.toString('hex'));
  }
  return { stream: from.stream, epoch, seq, head };
}

function followChain(block: Block, { stream, epoch, head }: ChainEnd): void {
  if (block.epoch < epoch) throw new LedgerInvariantError(`it is of epoch ${block.epoch}, after ${epoch}`);
  const prev = block.epoch === epoch ? head : hashEpochStart(stream, block.epoch, head);
  if (block.prev.equals(prev)) return;
  throw new LedgerInvariantError(
    block.epoch === epoch
      ? 'it does not follow the block before it'
      : `it does not follow the last block before its epoch ${block.epoch}`,
  );
}

function proveFrames(block: Block, proof: FramesProof, rows: BlockRows): void {
  rows.begin(block.seq);
  let number = 0;
  try {
    for (const frame of decodeFrames(block.body, block.frames)) {
      number += 1;
      rows.take(frame, proof.take(frame, block.epoch));
    }
  } catch (fault) {
    if (fault instanceof JournalFormatError) throw new LedgerInvariantError(fault.message);
    if (fault instanceof LedgerInvariantError) throw new LedgerInvariantError(`frame ${number}: ${fault.message}`);
    throw fault;
  }
  rows.finish();
}
