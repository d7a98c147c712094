/**
 * Brings the tables up to the journal: applies the durable blocks after the mark in batches, each in one transaction with
 * the blocks' bytes and the mark. Killed at any instruction, it repeats from the mark.
 */
import type { Database } from 'bun:sqlite';
import type { Block } from '../../journal/block.ts';
import type { BlockCursor } from '../../journal/block-cursor.ts';
import { decodeFrames } from '../../journal/decode-frames.ts';
import type { Frame, JournalEnd } from '../../ports/journal.ts';
import type { CallRecord } from '../../ports/records.ts';
import { StoreError, Unavailable } from '../../ports/store-errors.ts';
import type { StoredBlock } from '../chunks/build-chunks.ts';
import { inTransaction } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { openUsageFolder } from '../rollup/fold-usage.ts';
import { isAboutRequest, nameSqliteFault } from '../sqlite-fault.ts';
import { openFrameTables } from './frame-tables.ts';
import { readMark } from './mark.ts';
import { openMissingAccounts } from './missing-accounts.ts';

export interface Ingested {
  /** The last block that is in the tables. */
  readonly through: number;
  /** Blocks up to this one are in the tables durably: the journal may reuse their space. */
  readonly released: number;
}

export interface Ingest {
  /**
   * Applies the blocks up to `throughSeq`, which must be durable. @throws Unavailable `incompatible` for a block that
   * is missing, damaged, or contradicts the tables, which it names; the disk's fault
   */
  reach(throughSeq: number): Ingested;
  /** Makes everything that is in the tables durable. */
  release(): Ingested;
  /** Writes the gathered sums of usage. */
  rollUp(): void;
  /** After an upgrade: adds some of the sums of charges, for about 20 ms. False: none is missing. */
  addEarlierCharges(): boolean;
  /** Call after another write that may have changed an account. */
  forgetAccounts(): void;
  /** The accounts that only the journal had, and that were added. */
  addedAccounts(): readonly string[];
  close(): void;
}

export interface IngestParts {
  readonly database: Database;
  /** Opens the journal after a block. */
  readonly openBlocks: (from: JournalEnd) => BlockCursor;
  readonly nowMs: () => number;
  readonly reach: ReachFailpoint;
  /** Told the records of each batch once it is committed. */
  readonly onStored?: (blocks: readonly StoredBlock[]) => void;
  /** As `openUsageFolder`. */
  readonly earlierMax?: number | undefined;
}

/** One transaction applies about this many frames: fewer cost more each, more hold up other writes for longer. */
const BATCH_FRAMES = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Released at once: half a segment of the journal. */
const RELEASE_BYTES = 4 * 1024 * 1024;
/** How long gathered sums wait for more: longer means fewer rows rewritten, but more records read by every question. */
const GATHER_MS = 15_000;

export function openIngest({ database, openBlocks, nowMs, reach, onStored, earlierMax }: IngestParts): Ingest {
  const insertBlock = database.prepare(
    'INSERT INTO block (seq, epoch, frames, prev, hash, bytes) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const moveMark = database.prepare('UPDATE stream SET epoch = ?, seq = ?, head = ?');
  const usage = openUsageFolder(database, earlierMax);
  const tables = openFrameTables(database, usage);
  const accounts = openMissingAccounts(database);
  let mark: JournalEnd = readMark(database);
  /** What a killed process committed is in the file, but perhaps not on the disk. */
  let released = 0;
  let unreleasedBytes = 0;
  let cursor: BlockCursor | null = null;
  let hasEarlier = true;

  function* batches(throughSeq: number): Iterable<readonly Block[]> {
    cursor ??= openBlocks(mark);
    let batch: Block[] = [];
    let frames = 0;
    let bytes = 0;
    for (const block of cursor.read(throughSeq)) {
      batch.push(block);
      frames += block.frames;
      bytes += block.bytes.length;
      if (frames < BATCH_FRAMES && bytes < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      frames = 0;
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  }

  function apply(batch: readonly Block[], isDurable: boolean): void {
    const last = batch.at(-1);
    if (last === undefined) return;
    let stored: readonly StoredBlock[];
    try {
      if (!isDurable) database.run('PRAGMA synchronous = NORMAL');
      stored = inTransaction(database, () => {
        reach('ingest-begun');
        const decoded = batch.map((block) => ({ block, frames: decodeFrames(block.body, block.frames) }));
        for (const { frames } of decoded) if (accounts.add(frames)) usage.forgetZones();
        usage.begin(nowMs());
        const applied = decoded.map(({ block, frames }) => applyBlock(block, frames));
        tables.write();
        reach('ingest-applied');
        usage.finish(last.seq, nowMs(), GATHER_MS);
        moveMark.run(last.epoch, last.seq, last.hash);
        reach('ingest-before-commit');
        return applied;
      });
    } catch (fault) {
      tables.forget();
      usage.forget();
      accounts.forget();
      throw fault;
    } finally {
      if (!isDurable) database.run('PRAGMA synchronous = FULL');
    }
    accounts.commit();
    reach('ingest-committed');
    mark = { epoch: last.epoch, seq: last.seq, head: Uint8Array.from(last.hash) };
    onStored?.(stored);
  }

  function applyBlock(block: Block, frames: readonly Frame[]): StoredBlock {
    const { seq, epoch, prev, hash, bytes } = block;
    const records: CallRecord[] = [];
    for (const frame of frames) {
      tables.apply(frame, block);
      if ('record' in frame) records.push(frame.record);
    }
    insertBlock.run(seq, epoch, block.frames, prev, hash, bytes);
    return { seq, records };
  }

  /** Where a batch does not fit the tables, its blocks are applied one by one, up to the one to blame. */
  function applyBatch(batch: readonly Block[]): void {
    const bytes = batch.reduce((sum, block) => sum + block.bytes.length, unreleasedBytes);
    const isDurable = bytes >= RELEASE_BYTES;
    try {
      apply(batch, isDurable);
    } catch (fault) {
      if (!isAboutFrames(fault)) throw fault;
      if (batch.length === 1) throw contradiction(batch[0]?.seq ?? 0, fault);
      for (const block of batch) applyBatch([block]);
      return;
    }
    unreleasedBytes = isDurable ? 0 : bytes;
    if (isDurable) released = mark.seq;
  }

  /** A commit that failed may have gone through: begins again at the mark in the table. */
  function startOver(): void {
    cursor?.close();
    cursor = null;
    mark = readMark(database);
  }

  function fold<Result>(work: () => Result): Result {
    try {
      return inTransaction(database, work);
    } catch (fault) {
      usage.forget();
      throw fault;
    }
  }

  const ingested = () => ({ through: mark.seq, released });
  return {
    reach(throughSeq) {
      if (throughSeq <= mark.seq) return ingested();
      try {
        for (const batch of batches(throughSeq)) applyBatch(batch);
      } catch (fault) {
        startOver();
        throw fault;
      }
      return ingested();
    },
    release() {
      // A transaction that changes no byte would not wait for the disk.
      inTransaction(database, () => {
        moveMark.run(mark.epoch, mark.seq, new Uint8Array(mark.head.length));
        moveMark.run(mark.epoch, mark.seq, mark.head);
      });
      released = mark.seq;
      unreleasedBytes = 0;
      return ingested();
    },
    rollUp: () =>
      fold(() => {
        usage.begin(nowMs());
        usage.finish(mark.seq, nowMs(), 0);
      }),
    addEarlierCharges() {
      hasEarlier &&= fold(() => usage.addEarlierCharges(nowMs()));
      return hasEarlier;
    },
    forgetAccounts: usage.forgetZones,
    addedAccounts: accounts.added,
    close() {
      cursor?.close();
      for (const statement of [insertBlock, moveMark]) statement.finalize();
      tables.close();
      accounts.close();
      usage.close();
    },
  };
}

/** Whether the frames are at fault, not the disk. */
function isAboutFrames(fault: unknown): boolean {
  const isSystem = fault instanceof Error && 'code' in fault;
  return isSystem ? isAboutRequest(nameSqliteFault(fault)) : !(fault instanceof StoreError);
}

function contradiction(seq: number, fault: unknown): Unavailable {
  const message = fault instanceof Error ? fault.message : String(fault);
  return new Unavailable(
    'incompatible',
    `Block ${seq} of the journal does not fit the database: ${message}. Nothing after it was applied. Restore the data folder from a backup, or report this fault.`,
  );
}
