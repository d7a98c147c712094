/**
 * Compares the tables with the frames that they were filled from: call records, movements and their audit entries, stored
 * state.
 */
import type { Database } from 'bun:sqlite';
import type { EndFrame, Frame, MovementFrame, RefusedFrame } from '../../ports/journal.ts';
import { CALL_RECORD_COLUMNS, callRecordValues, renderAttempts, renderMasked } from '../ledger/call-record-row.ts';
import { auditValues, SELECT_AUDIT_VALUES } from '../policy/audit-row.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import type { BlockRows } from './prove-blocks.ts';
import { openStoredProof, type StoredProof } from './prove-stored.ts';

type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;

const SETTLED = ['held', 'posted', 'written_off', 'ended_ms'] as const;
const COLUMNS = [...CALL_RECORD_COLUMNS, 'trace_id', 'cached_from', 'masked', ...SETTLED];
/** Amounts as text: beyond 2^53 a number would silently lose its last digits. */
const AMOUNTS: ReadonlySet<string> = new Set(['cost_nano_usd', 'held', 'posted', 'written_off']);
const RECORDS = `SELECT block, ${COLUMNS.map((column) => (AMOUNTS.has(column) ? `cast(${column} AS TEXT) AS ${column}` : column)).join(', ')}
  FROM call_record INDEXED BY call_record_block WHERE block > 0 ORDER BY block`;
/** The kind in the text, so that the legacy entries' partial index is used. */
const movementOf = (kind: MovementFrame['of']) => `SELECT account, cast(amount AS TEXT), note, at_ms, block,
  EXISTS (SELECT 1 FROM ledger_entry WHERE ref = ?1 AND kind = '${kind}' AND nth = 0)
  FROM movement WHERE kind = '${kind}' AND id = ?1`;

export interface RowsProof extends BlockRows {
  /** Rows that frames stand for so far. */
  readonly counts: { readonly records: number; readonly movements: number };
  /** After the last block. @throws LedgerInvariantError */
  finishState: StoredProof['finish'];
  close(): void;
}

/** Compares rows of the tables, within the caller's transaction. */
export function openRowsProof(database: Database): RowsProof {
  const stored = openCursor(database, RECORDS);
  const readMovement = {
    topup: database.prepare<Value[], [string]>(movementOf('topup')),
    correct: database.prepare<Value[], [string]>(movementOf('correct')),
  };
  const audit = openCursor(database, SELECT_AUDIT_VALUES);
  const state = openStoredProof(database);
  const counts = { records: 0, movements: 0 };
  /** The next record of the table; null: none is left. */
  let ahead = stored.next();
  let seq = 0;
  const records = new Map<string, Row>();

  function takeRecord(frame: EndFrame | RefusedFrame, held: bigint | null): void {
    const { record } = frame;
    const { request_id } = record;
    const row = records.get(request_id);
    if (row === undefined) throw new LedgerInvariantError(`call ${request_id} has no record of this block`);
    records.delete(request_id);
    counts.records += 1;
    const settled = frame.kind === 'end' ? settledOf(frame, held) : NOT_HELD;
    const values = [
      ...callRecordValues(record),
      renderAttempts(record),
      record.trace_id,
      record.cached_from ?? null,
      renderMasked(record),
      ...settled,
    ];
    for (let at = 0; at < COLUMNS.length; at++) {
      const column = COLUMNS[at] as string;
      const expected = values[at];
      if (row[column] === expected) continue;
      throw new LedgerInvariantError(
        `the record of call ${request_id} has ${column} ${render(row[column])}, the frame has ${render(expected)}`,
      );
    }
  }

  function takeMovement({ of, movement, audit: entry }: MovementFrame): void {
    const { id, account, amount, note, at_ms } = movement;
    const [row] = readMovement[of].values(id);
    if (row === undefined) throw new LedgerInvariantError(`the ${of} ${id} has no row`);
    counts.movements += 1;
    const found = JSON.stringify(row);
    const expected = JSON.stringify([account, amount.toString(), note, at_ms, seq, 0]);
    if (found !== expected)
      throw new LedgerInvariantError(
        `the row of ${of} ${id} (account, amount, note, time, block, made before the journal) is ${found}, the frame has ${expected}`,
      );
    if (entry !== null && !passAudit(JSON.stringify(auditValues(entry))))
      throw new LedgerInvariantError(`the audit entry of ${of} ${id} is missing or changed`);
  }

  /** Entries of movements are added in the order of their frames, with others between them. */
  function passAudit(values: string): boolean {
    for (let row = audit.next(); row !== null; row = audit.next())
      if (JSON.stringify(Object.values(row)) === values) return true;
    return false;
  }

  return {
    counts,
    begin(block) {
      seq = block;
      records.clear();
      for (; ahead !== null && ahead.block === block; ahead = stored.next())
        records.set(String(ahead.request_id), ahead);
    },
    take(frame: Frame, held) {
      if (frame.kind === 'end' || frame.kind === 'refused') takeRecord(frame, held);
      else if (frame.kind === 'movement') takeMovement(frame);
      if (frame.kind === 'end' || frame.kind === 'detach') state.take(frame);
    },
    finish() {
      const [stray] = records.keys();
      if (stray !== undefined)
        throw new LedgerInvariantError(`the record of call ${stray} names this block, which has no frame of it`);
    },
    finishState: state.finish,
    close() {
      for (const statement of [readMovement.topup, readMovement.correct]) statement.finalize();
      for (const cursor of [stored, audit, state]) cursor.close();
    },
  };
}

const NOT_HELD: readonly Value[] = SETTLED.map(() => null);

function settledOf({ posted, writtenOff, at_ms }: Omit<EndFrame, 'record'>, held: bigint | null): readonly Value[] {
  return [String(held), String(posted), String(writtenOff), at_ms];
}

function render(value: Value | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

interface Cursor {
  /** Null: no row is left. */
  next(): Row | null;
  close(): void;
}

/** Reads one row at a time: a table may be larger than the memory. */
function openCursor(database: Database, sql: string): Cursor {
  const read = database.prepare<Row, []>(sql);
  const rows = read.iterate();
  return {
    next() {
      const { done, value } = rows.next();
      return done === true ? null : value;
    },
    close() {
      rows.return?.();
      read.finalize();
    },
  };
}
