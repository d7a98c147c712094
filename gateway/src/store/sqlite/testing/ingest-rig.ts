/**
 * Fills the tables of a data folder with frames as the writer thread does, without a journal on the disk: each block is
 * made in memory and ingested at once. For tests and measurements.
 */
import type { Database } from 'bun:sqlite';
import { BLOCK_HEAD_BYTES, type Block, hashEpochStart, parseBlock, sealBlock } from '../../journal/block.ts';
import type { BlockCursor } from '../../journal/block-cursor.ts';
import { BlockWriter } from '../../journal/block-writer.ts';
import { encodeFrame } from '../../journal/encode-frame.ts';
import type { Frame, JournalEnd } from '../../ports/journal.ts';
import { openChunkBuilder } from '../chunks/build-chunks.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { openIngest } from '../ingest/ingest.ts';
import { findMark } from '../ingest/mark.ts';
import { migrate } from '../migrations/migrate.ts';
import { keepWrites } from '../writer/writer-database.ts';
import type { WriterReply, WriteStatement } from '../writer/writer-messages.ts';

export interface IngestRig {
  readonly database: Database;
  /** Makes one block of the frames, and ingests it. */
  append(frames: readonly Frame[]): void;
  /** Makes a block that the next `ingest` finds. Returns its number. */
  appendOnly(frames: readonly Frame[]): number;
  ingest(throughSeq: number): void;
  rollUp(): void;
  /** As `Ingest.release`. */
  release(): void;
  /** As `Ingest.addEarlierCharges`. */
  addEarlierCharges(): boolean;
  /** Builds all chunks that can be built. */
  chunk(): void;
  keepWrites(writes: readonly (readonly WriteStatement[])[]): WriterReply;
  close(): void;
}

/** Less than what a program takes at once. */
interface RigOptions {
  readonly chunkRows?: number | undefined;
  readonly keptMax?: number | undefined;
  readonly earlierMax?: number | undefined;
}

const STREAM = Buffer.alloc(16, 7);

/** Opens the folder's database, and creates it if it is missing. Each opening takes the next epoch. */
export function openIngestRig(
  dataDir: string,
  reach: ReachFailpoint = () => undefined,
  { chunkRows, keptMax, earlierMax }: RigOptions = {},
): IngestRig {
  const database = openWriteConnection(databasePath(dataDir));
  migrate(database, 1);
  if (findMark(database) === null) {
    database.run('INSERT INTO stream (one, id, epoch, seq, head) VALUES (1, ?, 0, 0, zeroblob(32))', [STREAM]);
  }
  const start = findMark(database);
  if (start === null) throw new Error('the folder has no stream');
  const epoch = start.epoch + 1;
  let end: JournalEnd = start;
  const blocks: Block[] = [];
  const openBlocks = (from: JournalEnd): BlockCursor => {
    let seq = from.seq;
    return {
      *read(throughSeq) {
        for (const block of blocks) {
          if (block.seq <= seq || block.seq > throughSeq) continue;
          seq = block.seq;
          yield block;
        }
      },
      close: () => undefined,
    };
  };
  const chunks = openChunkBuilder(database, { chunkRows, keptMax, reach });
  const ingest = openIngest({ database, openBlocks, nowMs: Date.now, reach, onStored: chunks.take, earlierMax });
  const writer = new BlockWriter(BLOCK_HEAD_BYTES);

  function appendOnly(frames: readonly Frame[]): number {
    writer.reset();
    for (const frame of frames) encodeFrame(writer, frame);
    const bytes = Buffer.from(writer.bytes());
    const prev = end.epoch === epoch ? end.head : hashEpochStart(STREAM, epoch, end.head);
    sealBlock(bytes, frames.length, end.seq + 1, end.seq, prev, Buffer.alloc(32));
    const block = parseBlock(bytes, 0, epoch);
    if (block === null) throw new Error('a block that was just made cannot be read');
    blocks.push(block);
    end = { epoch, seq: block.seq, head: block.hash };
    return block.seq;
  }

  return {
    database,
    append: (frames) => void ingest.reach(appendOnly(frames)),
    appendOnly,
    ingest: (throughSeq) => void ingest.reach(throughSeq),
    rollUp: ingest.rollUp,
    release: () => void ingest.release(),
    addEarlierCharges: ingest.addEarlierCharges,
    chunk() {
      while (chunks.step());
    },
    keepWrites(writes) {
      ingest.forgetAccounts();
      return keepWrites(database, writes);
    },
    close() {
      ingest.close();
      chunks.close();
      database.close();
    },
  };
}
