/** Reads balances and single movements from the tables. */
import { type Kysely, sql } from 'kysely';
import type { AccountBalance, AccountMode, Movement } from '../../ports/ledger.ts';
import type { Tables } from '../database/sqlite-dialect.ts';

/** Null: no movement of that kind and id. Those from before the journal are entries of the old ledger. */
export async function readMovement(
  queries: Kysely<Tables>,
  kind: 'topup' | 'correct',
  id: string,
): Promise<Movement | null> {
  // The kind is a literal: with a bound kind SQLite could not use the partial index, which covers only some kinds.
  const { rows } = await sql<Omit<Movement, 'amount'> & { readonly amount: string }>`
    SELECT id, account, cast(amount AS TEXT) AS amount, note, at_ms FROM movement WHERE kind = ${kind} AND id = ${id}
    UNION ALL SELECT ref AS id, account, cast(amount AS TEXT) AS amount, note, at_ms
    FROM ledger_entry WHERE ref = ${id} AND kind = ${sql.lit(kind)} AND nth = 0`.execute(queries);
  const [row] = rows;
  return row === undefined ? null : { ...row, amount: BigInt(row.amount) };
}

/** Amounts as decimal text: beyond 2^53 a number would silently lose its last digits. */
interface BalanceRow {
  readonly account: string;
  readonly mode: AccountMode;
  readonly available: string;
  readonly held: string;
  readonly charged: string;
  readonly writtenOff: string;
  readonly topped_up: string;
  readonly absorbed_attempts: string;
}

/** Reads the balances of all accounts by id, or of one; an account without entries has only zeros. */
export async function readBalances(
  queries: Kysely<Tables>,
  account: string | null = null,
): Promise<readonly AccountBalance[]> {
  const { rows } = await sql<BalanceRow>`
    SELECT account.id AS account, mode,
      cast(coalesce(available, 0) AS TEXT) AS available, cast(coalesce(held, 0) AS TEXT) AS held,
      cast(coalesce(charged, 0) AS TEXT) AS charged, cast(coalesce(absorbed, 0) AS TEXT) AS writtenOff,
      cast(coalesce(topped_up, 0) AS TEXT) AS topped_up,
      cast(coalesce(absorbed_attempts, 0) AS TEXT) AS absorbed_attempts
    FROM account LEFT JOIN account_balance ON account_balance.account = account.id
    WHERE ${account} IS NULL OR account.id = ${account}
    ORDER BY account.id`.execute(queries);
  return rows.map((row) => ({
    account: row.account,
    mode: row.mode,
    available: BigInt(row.available),
    held: BigInt(row.held),
    charged: BigInt(row.charged),
    writtenOff: BigInt(row.writtenOff),
    toppedUp: BigInt(row.topped_up),
    absorbedAttempts: BigInt(row.absorbed_attempts),
  }));
}
