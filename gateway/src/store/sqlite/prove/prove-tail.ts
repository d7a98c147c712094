/** Reads the durable blocks in the journal's segments that are not in the database yet, also while a server writes. */
import type { Database } from 'bun:sqlite';
import type { Block } from '../../journal/block.ts';
import { ChainReader } from '../../journal/block-cursor.ts';
import { DISK } from '../../journal/file-port.ts';
import { inspectJournal } from '../../journal/recover-journal.ts';
import type { Frame } from '../../ports/journal.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import type { BlockRows, ChainEnd } from './prove-blocks.ts';

/**
 * Yields the blocks after the mark, as far as the segments in the folder have them. `readMarkNow`: the last block that is
 * in the database by now. A torn block at the end was never confirmed and is left out, as at a start.
 *
 * @throws LedgerInvariantError where a block that was durable is missing or damaged
 */
export function* readTail(folder: string, mark: ChainEnd, readMarkNow: () => number): Iterable<Block> {
  const chain = new ChainReader(DISK, folder, mark);
  try {
    for (;;) {
      chain.refresh();
      for (let block = chain.next(); block !== null; block = chain.next()) yield block;
      const damage = findDamage(folder, { ...mark, epoch: chain.epoch, seq: chain.seq, head: chain.head });
      if (damage === null) return;
      // A server that writes looks damaged where the next block was incomplete when it was read, and the one after it
      // is there. So look again; and its database may have taken the block from the segments meanwhile.
      chain.refresh();
      const next = chain.next();
      if (next !== null) yield next;
      else if (readMarkNow() > chain.seq) return;
      else throw new LedgerInvariantError(damage);
    }
  } finally {
    chain.close();
  }
}

function findDamage(folder: string, end: ChainEnd): string | null {
  try {
    inspectJournal(folder, end, end.stream);
    return null;
  } catch (fault) {
    if (fault instanceof StoreError) return fault.message;
    throw fault;
  }
}

/** Checks that the frames of the tail bring no record and no movement that the database has already. */
export function createTailRows(database: Database): BlockRows {
  const findRecord = database.query<unknown, [string]>('SELECT 1 FROM call_record WHERE request_id = ?');
  const findMovement = database.query<unknown, [string, string]>('SELECT 1 FROM movement WHERE kind = ? AND id = ?');
  const seen = new Set<string>();

  function takeNew(what: string, isStored: boolean): void {
    if (isStored || seen.has(what)) throw new LedgerInvariantError(`a second ${what}`);
    seen.add(what);
  }

  return {
    begin: () => undefined,
    take(frame: Frame) {
      if (frame.kind === 'end' || frame.kind === 'refused') {
        const { request_id } = frame.record;
        takeNew(`record of call ${request_id}`, findRecord.get(request_id) !== null);
      } else if (frame.kind === 'movement') {
        const { id } = frame.movement;
        takeNew(`${frame.of} ${id}`, findMovement.get(frame.of, id) !== null);
      }
    },
    finish: () => undefined,
  };
}
