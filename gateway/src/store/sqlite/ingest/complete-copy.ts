/** Brings a copy of a data folder's database up to the folder's journal, so that one file has everything. */
import type { Block } from '../../journal/block.ts';
import { readTail } from '../../journal/recover-journal.ts';
import { openReadConnection, openWriteConnection } from '../database/connection.ts';
import { readStoredBlocks } from '../prove/prove-blocks.ts';
import { journalFolder } from '../writer/writer-database.ts';
import { openIngest } from './ingest.ts';
import { findMark, readMarkNow, type StreamMark } from './mark.ts';

/**
 * Applies to the copy what the journal beside `path` has by now: blocks that a running server has moved into its database
 * since the copy was made, and those that are in segments only. Changes nothing of the folder itself.
 *
 * @throws Unavailable `incompatible` for a block that is missing, damaged, or contradicts the copy
 */
export function completeCopy(copy: string, path: string): void {
  const database = openWriteConnection(copy);
  try {
    const mark = findMark(database);
    if (mark !== null) {
      const openBlocks = () => ({ read: () => readAfter(path, mark), close: () => undefined });
      const ingest = openIngest({ database, openBlocks, nowMs: Date.now, reach: () => undefined });
      ingest.reach(Number.MAX_SAFE_INTEGER);
      ingest.close();
    }
    // One file again, without a write-ahead log.
    database.run('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

function* readAfter(path: string, { stream, ...mark }: StreamMark): Iterable<Block> {
  let end = mark;
  do {
    const database = openReadConnection(path);
    try {
      for (const block of readStoredBlocks(database, end.seq)) {
        yield block;
        end = { epoch: block.epoch, seq: block.seq, head: block.hash };
      }
    } finally {
      database.close();
    }
    for (const block of readTail(journalFolder(path), stream, end, () => readMarkNow(path))) {
      yield block;
      end = { epoch: block.epoch, seq: block.seq, head: block.hash };
    }
  } while (readMarkNow(path) > end.seq);
}
