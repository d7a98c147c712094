/** Proves the tables that sum up the ledger against the fold of its entries and frames, up to the mark. */
import type { Database } from 'bun:sqlite';
import { type Balance, EMPTY_BALANCE } from '../../ledger/fold-balance.ts';
import { renderCheckpoint, renderDraft } from '../ledger/call-record-row.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import type { ChainEnd } from './prove-blocks.ts';
import type { CallsProof, RunningCall } from './prove-calls.ts';
import type { RowsProof } from './prove-rows.ts';

interface BalanceRow {
  readonly account: string;
  /** `available held charged absorbed topped_up absorbed_attempts`. */
  readonly amounts: string;
}

interface OpenHoldRow {
  readonly call_id: string;
  readonly account: string;
  readonly amount: string;
  readonly extensions: number;
  readonly epoch: number;
  readonly draft: string;
  readonly checkpoint: string | null;
  readonly job: string | null;
}

/** Checks that every account's balance row equals the fold of its entries. @throws LedgerInvariantError */
export function proveBalances(database: Database, folded: ReadonlyMap<string, Balance>): void {
  const rows = database
    .query<BalanceRow, []>(
      `SELECT account, available || ' ' || held || ' ' || charged || ' ' || absorbed || ' ' || topped_up || ' ' || absorbed_attempts AS amounts
        FROM account_balance`,
    )
    .all();
  const kept = new Map(rows.map(({ account, amounts }) => [account, amounts]));
  for (const account of new Set([...folded.keys(), ...kept.keys()])) {
    const balance = folded.get(account) ?? EMPTY_BALANCE;
    const { available, held, charged, writtenOff, toppedUp, absorbedAttempts } = balance;
    const expected = [available, held, charged, writtenOff, toppedUp, absorbedAttempts].join(' ');
    const found = kept.get(account) ?? 'nothing';
    if (found !== expected) {
      throw new LedgerInvariantError(
        `the balance of account ${account} (available, held, charged, absorbed, topped up, absorbed for attempts) is ${found}, its entries sum to ${expected}`,
      );
    }
  }
}

/** Checks that the open holds are those of the calls that have not ended. @throws LedgerInvariantError */
export function proveOpenHolds(database: Database, running: CallsProof['running']): void {
  const rows = database
    .query<OpenHoldRow, []>(
      'SELECT call_id, account, cast(amount AS TEXT) AS amount, extensions, epoch, draft, checkpoint, job FROM open_hold',
    )
    .all();
  for (const row of rows) {
    const { call_id, account, amount, extensions } = row;
    const call = running.get(call_id);
    if (call === undefined)
      throw new LedgerInvariantError(`there is an open hold of call ${call_id}, which has none by its entries`);
    if (call.account !== account || call.held.toString() !== amount || call.extensions !== extensions) {
      throw new LedgerInvariantError(
        `the open hold of call ${call_id} says ${amount} of account ${account} after ${extensions} extensions, its entries say ${call.held} of account ${call.account} after ${call.extensions}`,
      );
    }
    const different = differentColumn(row, call);
    if (different !== null)
      throw new LedgerInvariantError(`the ${different} of the open hold of call ${call_id} is not that of its frames`);
  }
  if (rows.length === running.size) return;
  const open = new Set(rows.map(({ call_id }) => call_id));
  const lost = [...running.keys()].find((call_id) => !open.has(call_id));
  throw new LedgerInvariantError(`call ${lost} holds money by its entries, and has no open hold`);
}

/** Entries from before the journal have neither draft nor checkpoint. */
function differentColumn(row: OpenHoldRow, { draft, epoch, checkpoint, job }: RunningCall): string | null {
  if (draft === null) return null;
  if (row.draft !== renderDraft(draft)) return 'draft';
  if (row.epoch !== epoch) return 'epoch';
  if (row.job !== (job === null ? null : JSON.stringify(job))) return 'job';
  return row.checkpoint === (checkpoint === null ? null : renderCheckpoint(checkpoint)) ? null : 'checkpoint';
}

/** Checks that the mark is the last block of the table. @throws LedgerInvariantError */
export function proveMark(mark: ChainEnd, end: ChainEnd): void {
  if (mark.seq !== end.seq)
    throw new LedgerInvariantError(`the mark is block ${mark.seq}, the last block in the database is ${end.seq}`);
  if (mark.epoch !== end.epoch || !Buffer.from(mark.head).equals(end.head))
    throw new LedgerInvariantError(`the mark does not name block ${end.seq} with its epoch and hash`);
}

/** Checks that frames stand for all movements, and for all records from after the journal began. */
export function proveCounts(database: Database, { records, movements }: RowsProof['counts']): void {
  const count = (sql: string) => database.query<{ count: number }, []>(sql).get()?.count ?? 0;
  const framed = count('SELECT count(*) AS count FROM call_record WHERE block IS NOT NULL AND block <> 0');
  if (framed !== records)
    throw new LedgerInvariantError(`${framed} records name a block, the journal has frames of ${records}`);
  const moved = count('SELECT count(*) AS count FROM movement');
  if (moved !== movements)
    throw new LedgerInvariantError(`there are ${moved} movements, the journal has frames of ${movements}`);
}

/** Records that no block of the journal brought. */
const UNFRAMED = 'FROM call_record WHERE (block IS NULL OR block = 0)';
const IN_LEDGER = "request_id > (SELECT cast(value AS TEXT) FROM meta WHERE name = 'records_before_ledger')";

interface UnframedRow {
  readonly costly: number;
  /** A record with columns that only the journal fills; null: none. */
  readonly filled: string | null;
  readonly newest: string | null;
}

/**
 * Checks that records without a block are from before the journal, and that those with a cost have an end in its
 * ledger. `charged`: ends of the ledger with a cost; null: there was no ledger before the journal.
 *
 * @throws LedgerInvariantError
 */
export function proveUnframedRecords(database: Database, charged: number | null): void {
  const row = database
    .query<UnframedRow, []>(
      `SELECT count(*) FILTER (WHERE cost_nano_usd <> 0 AND ${IN_LEDGER}) AS costly,
        max(request_id) FILTER (WHERE coalesce(trace_id, cached_from, masked, held, posted, written_off, ended_ms) IS NOT NULL) AS filled,
        max(request_id) FILTER (WHERE ${IN_LEDGER}) AS newest ${UNFRAMED}`,
    )
    .get();
  if (row === null) return;
  if (row.filled !== null)
    throw new LedgerInvariantError(
      `the record of call ${row.filled} has amounts or a trace id, and names no block of the journal`,
    );
  if (charged === null && row.newest !== null)
    throw new LedgerInvariantError(`the record of call ${row.newest} names no block of the journal`);
  if (row.costly === (charged ?? 0)) return;
  const stray = database
    .query<{ request_id: string; cost: string }, []>(
      `SELECT request_id, cast(cost_nano_usd AS TEXT) AS cost ${UNFRAMED} AND cost_nano_usd <> 0 AND ${IN_LEDGER}
        AND request_id NOT IN (SELECT ref FROM ledger_entry WHERE kind IN ('post', 'void')) LIMIT 1`,
    )
    .get();
  throw new LedgerInvariantError(
    stray === null
      ? `${row.costly} records cost something, the ledger has ${charged} of them`
      : `the record of call ${stray.request_id} costs ${stray.cost} nano-USD, and the ledger has no end of that call`,
  );
}
