/**
 * Compares the rows of stored state that name a call with the frames of that call. A row that is missing is no problem: it
 * expired, a client deleted it, or a later call changed it. Rows of objects that clients created name no call. Decision
 * 0042.
 */
import type { Database } from 'bun:sqlite';
import type { DetachFrame, EndFrame } from '../../ports/journal.ts';
import type { StoredByCall, StoredRow } from '../../ports/stored-state.ts';
import { storedRows } from '../stored/stored-rows.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';

const OF_CALL = `SELECT account, workspace, id, kind, provider, model, credential, tokens, request_id, expires_at_ms
  FROM stored_state WHERE request_id = ?`;
const NAMING_CALLS = `SELECT count(*) AS rows FROM stored_state WHERE request_id IN (SELECT request_id FROM call_record)
  OR request_id IN (SELECT call_id FROM open_hold)`;

const COLUMNS = ['account', 'workspace', 'kind', 'provider', 'model', 'credential'] as const;

type Row = Omit<StoredRow, 'object'>;
type StoredBy = Pick<Row, 'account' | 'workspace' | 'request_id'>;

export interface StoredProof {
  /** A call left something at its provider, or ended. @throws LedgerInvariantError */
  take(frame: EndFrame | DetachFrame): void;
  /** After the last frame. `draftOf`: of a running call. @throws LedgerInvariantError */
  finish(draftOf: (callId: string) => StoredBy | null): void;
  close(): void;
}

/** Compares within the caller's transaction. */
export function openStoredProof(database: Database): StoredProof {
  const readRows = database.prepare<Row, [string]>(OF_CALL);
  /** What calls left that were detached and have not ended. */
  const detached = new Map<string, StoredByCall>();
  let found = 0;

  function compare(call: StoredBy, left: readonly StoredByCall[]): void {
    const expected = new Map(left.flatMap((stored) => storedRows(call, stored)).map((row) => [row.id, row]));
    for (const row of readRows.iterate(call.request_id)) {
      found += 1;
      const frame = expected.get(row.id);
      if (frame === undefined) throw new LedgerInvariantError(`call ${call.request_id} left no ${row.kind} ${row.id}`);
      for (const column of COLUMNS) if (row[column] !== frame[column]) throw differs(row, column, frame[column]);
      // Items that clients add to a conversation count too.
      if (row.kind !== 'conversation' && row.tokens !== frame.tokens) throw differs(row, 'tokens', frame.tokens);
      // An earlier row of the same thing may expire later.
      if (row.expires_at_ms < frame.expires_at_ms) throw differs(row, 'expires_at_ms', frame.expires_at_ms);
    }
  }

  return {
    take(frame) {
      if (frame.kind === 'detach') {
        if (frame.stored !== undefined) detached.set(frame.call_id, frame.stored);
        return;
      }
      const { record, stored } = frame;
      const before = detached.get(record.request_id);
      detached.delete(record.request_id);
      const left = [before, stored].filter((one) => one !== undefined);
      if (left.length > 0) compare(record, left);
    },
    finish(draftOf) {
      for (const [id, stored] of detached) {
        const draft = draftOf(id);
        if (draft === null) throw new LedgerInvariantError(`call ${id} was detached, and does not run`);
        compare(draft, [stored]);
      }
      const naming = database.query<{ rows: number }, []>(NAMING_CALLS).get()?.rows ?? 0;
      if (naming !== found)
        throw new LedgerInvariantError(
          `${naming} rows of stored state name a call, the journal has frames of ${found} of them`,
        );
    },
    close: () => readRows.finalize(),
  };
}

function differs(row: Row, column: keyof Row, expected: string | number): LedgerInvariantError {
  const [found, framed] = [row[column], expected].map((value) => JSON.stringify(value));
  return new LedgerInvariantError(
    `the row of ${row.kind} ${row.id} of call ${row.request_id} has ${column} ${found}, the frame has ${framed}`,
  );
}
