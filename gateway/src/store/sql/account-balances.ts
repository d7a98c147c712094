/** Owns the queries over the accounts' balances. The ledger's entries are their truth; the writer keeps them equal. */
import { type Kysely, sql } from 'kysely';
import type { AccountBalance, AccountMode } from '../ledger-port.ts';
import type { Tables } from './tables.ts';

/** Amounts as decimal text: beyond 2^53 a number would lose its last digits without a word. */
interface BalanceRow {
  readonly account: string;
  readonly mode: AccountMode;
  readonly available: string;
  readonly held: string;
  readonly charged: string;
  readonly absorbed: string;
  readonly topped_up: string;
}

/** The balances of all accounts by id, or of one; an account without entries has 0 throughout. */
export async function readBalances(
  queries: Kysely<Tables>,
  account: string | null = null,
): Promise<readonly AccountBalance[]> {
  const { rows } = await sql<BalanceRow>`
    SELECT account.id AS account, mode,
      cast(coalesce(available, 0) AS TEXT) AS available, cast(coalesce(held, 0) AS TEXT) AS held,
      cast(coalesce(charged, 0) AS TEXT) AS charged, cast(coalesce(absorbed, 0) AS TEXT) AS absorbed,
      cast(coalesce(topped_up, 0) AS TEXT) AS topped_up
    FROM account LEFT JOIN account_balance ON account_balance.account = account.id
    WHERE ${account} IS NULL OR account.id = ${account}
    ORDER BY account.id`.execute(queries);
  return rows.map((row) => ({
    account: row.account,
    mode: row.mode,
    available: BigInt(row.available),
    held: BigInt(row.held),
    charged: BigInt(row.charged),
    absorbed: BigInt(row.absorbed),
    toppedUp: BigInt(row.topped_up),
  }));
}
