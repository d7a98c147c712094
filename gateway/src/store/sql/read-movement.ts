/** Owns the query for one movement that a person made, by what names it. */
import { type Kysely, sql } from 'kysely';
import type { Movement } from '../ledger-port.ts';
import type { MovementKind } from './ledger-operations.ts';
import type { Tables } from './tables.ts';

/** Null: there is none of that kind and id. */
export async function readMovement(queries: Kysely<Tables>, kind: MovementKind, id: string): Promise<Movement | null> {
  // The kind stands in the statement: for a bound one SQLite could not use the index, which has some kinds only.
  const { rows } = await sql<Omit<Movement, 'amount'> & { readonly amount: string }>`
    SELECT ref AS id, account, cast(amount AS TEXT) AS amount, note, at_ms
    FROM ledger_entry WHERE ref = ${id} AND kind = ${sql.lit(kind)} AND nth = 0`.execute(queries);
  const [row] = rows;
  return row === undefined ? null : { ...row, amount: BigInt(row.amount) };
}
