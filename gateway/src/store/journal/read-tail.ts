/** Reads the durable blocks that a journal's segments have after a database's mark, also while a server writes. */
import type { JournalEnd } from '../ports/journal.ts';
import { StoreError } from '../ports/store-errors.ts';
import type { Block } from './block.ts';
import { ChainReader } from './block-cursor.ts';
import { DISK } from './file-port.ts';
import { inspectJournal } from './recover-journal.ts';

/**
 * Yields the blocks after `mark`, as far as the segments in the folder have them. `readMarkNow`: the last block that is in
 * the database by now; the segments may have lost the blocks up to it. A torn block at the end was never confirmed and is
 * left out, as at a start.
 *
 * @throws Unavailable `incompatible` where a block that was durable is missing or damaged, or the segments are of another
 * stream
 */
export function* readTail(
  folder: string,
  stream: Uint8Array,
  mark: JournalEnd,
  readMarkNow: () => number,
): Iterable<Block> {
  const chain = new ChainReader(DISK, folder, mark);
  try {
    chain.refresh();
    for (let block = chain.next(); block !== null; block = chain.next()) yield block;
    const damage = findDamage(folder, stream, { epoch: chain.epoch, seq: chain.seq, head: chain.head });
    if (damage === null) return;
    // While a server writes, the next block may have been incomplete when it was read, and the one after it there since.
    // And the server may have moved the next block into the database, and used its space again.
    chain.refresh();
    if (chain.next() === null && readMarkNow() <= chain.seq) throw damage;
  } finally {
    chain.close();
  }
}

function findDamage(folder: string, stream: Uint8Array, end: JournalEnd): StoreError | null {
  try {
    inspectJournal(folder, end, stream);
    return null;
  } catch (fault) {
    if (fault instanceof StoreError) return fault;
    throw fault;
  }
}
