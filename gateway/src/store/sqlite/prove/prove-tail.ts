/** Compares the frames that are not in the database yet with the records and movements that are. */
import type { Database } from 'bun:sqlite';
import type { Frame } from '../../ports/journal.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import type { BlockRows } from './prove-blocks.ts';

/** Checks that the frames bring no record and no movement for a second time. */
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
