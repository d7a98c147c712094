/** Owns the proof that the tables beside the entries say what the entries say: balances, open holds, costs of records. */
import type { Database } from 'bun:sqlite';
import { Disproof } from './disproof.ts';
import { type Balance, EMPTY_BALANCE } from './fold-balance.ts';
import type { CallsProof } from './prove-calls.ts';

interface BalanceRow {
  readonly account: string;
  /** `available held charged absorbed topped_up`. */
  readonly amounts: string;
}

interface OpenHoldRow {
  readonly call_id: string;
  readonly account: string;
  readonly amount: string;
  readonly extensions: number;
}

/** Every account's row is the fold of its entries. @throws Disproof */
export function proveBalances(database: Database, folded: ReadonlyMap<string, Balance>): void {
  const rows = database
    .query<BalanceRow, []>(
      `SELECT account, available || ' ' || held || ' ' || charged || ' ' || absorbed || ' ' || topped_up AS amounts
        FROM account_balance`,
    )
    .all();
  const kept = new Map(rows.map(({ account, amounts }) => [account, amounts]));
  for (const account of new Set([...folded.keys(), ...kept.keys()])) {
    const { available, held, charged, absorbed, toppedUp } = folded.get(account) ?? EMPTY_BALANCE;
    const expected = [available, held, charged, absorbed, toppedUp].join(' ');
    const found = kept.get(account) ?? 'nothing';
    if (found !== expected) {
      throw new Disproof(
        null,
        `the balance of account ${account} (available, held, charged, absorbed, topped up) is ${found}, its entries sum to ${expected}`,
      );
    }
  }
}

/** The open holds are those of the calls that have not ended, and sum up to what is held. @throws Disproof */
export function proveOpenHolds(database: Database, running: CallsProof['running']): void {
  const rows = database
    .query<OpenHoldRow, []>('SELECT call_id, account, cast(amount AS TEXT) AS amount, extensions FROM open_hold')
    .all();
  for (const { call_id, account, amount, extensions } of rows) {
    const call = running.get(call_id);
    if (call === undefined)
      throw new Disproof(null, `there is an open hold of call ${call_id}, which has none by its entries`);
    if (call.account !== account || call.held.toString() !== amount || call.extensions !== extensions) {
      throw new Disproof(
        null,
        `the open hold of call ${call_id} says ${amount} of account ${account} after ${extensions} extensions, its entries say ${call.held} of account ${call.account} after ${call.extensions}`,
      );
    }
  }
  if (rows.length === running.size) return;
  const open = new Set(rows.map(({ call_id }) => call_id));
  const lost = [...running.keys()].find((call_id) => !open.has(call_id));
  throw new Disproof(null, `call ${lost} holds money by its entries, and has no open hold`);
}

/** No record says that a call cost something where the ledger has no end of that call. @throws Disproof */
export function proveRecords(database: Database, charged: number): void {
  const costly = `FROM call_record WHERE cost_nano_usd <> 0
    AND request_id > (SELECT cast(value AS TEXT) FROM meta WHERE name = 'records_before_ledger')`;
  const found = database.query<{ count: number }, []>(`SELECT count(*) AS count ${costly}`).get()?.count ?? 0;
  if (found === charged) return;
  const stray = database
    .query<{ request_id: string; cost: string }, []>(
      `SELECT request_id, cast(cost_nano_usd AS TEXT) AS cost ${costly} AND request_id NOT IN
        (SELECT ref FROM ledger_entry WHERE kind IN ('post', 'void')) LIMIT 1`,
    )
    .get();
  throw new Disproof(
    null,
    stray === null
      ? `${found} records cost something, the ledger has ${charged} of them`
      : `the record of call ${stray.request_id} costs ${stray.cost} nano-USD, and the ledger has no end of that call`,
  );
}
