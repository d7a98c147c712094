/** Owns how accounts lie in their table, and the statements that read and change them. Their money is the ledger's. */
import type { CompiledQuery, Kysely } from 'kysely';
import type { AccountMode } from '../ledger-port.ts';
import type { StoredAccount, WindowZones } from '../policy-port.ts';
import type { HoldMode } from '../ports.ts';
import type { Tables } from './tables.ts';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly created_at_ms: number;
  readonly mode: AccountMode;
  readonly mark_up_ppm: number;
  readonly time_zone: string;
  readonly holds: HoldMode | null;
  /** JSON of `WindowZones`; NULL: none. */
  readonly window_zones: string | null;
}

/** All accounts, in the order in which they were made. */
export async function readAccounts(queries: Kysely<Tables>): Promise<readonly StoredAccount[]> {
  const rows = await accountsOf(queries)
    .selectFrom('account')
    .select(['id', 'name', 'mode', 'mark_up_ppm', 'time_zone', 'window_zones', 'holds', 'created_at_ms'])
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    mode: row.mode,
    markUpPpm: row.mark_up_ppm,
    timeZone: row.time_zone,
    ...(row.window_zones === null ? {} : { windowZones: JSON.parse(row.window_zones) as WindowZones }),
    holds: row.holds,
    createdAtMs: row.created_at_ms,
  }));
}

/** Makes an account, or changes all but its id and time of creation; changes one row. */
export function compileAccountChange(queries: Kysely<Tables>, account: StoredAccount, isNew: boolean): CompiledQuery {
  const { id, createdAtMs, name, mode, markUpPpm, timeZone, windowZones, holds } = account;
  const members = {
    name,
    mode,
    mark_up_ppm: markUpPpm,
    time_zone: timeZone,
    window_zones: windowZones === undefined ? null : JSON.stringify(windowZones),
    holds,
  };
  return isNew
    ? accountsOf(queries)
        .insertInto('account')
        .values({ id, created_at_ms: createdAtMs, ...members })
        .compile()
    : accountsOf(queries).updateTable('account').set(members).where('id', '=', id).compile();
}

function accountsOf(queries: Kysely<Tables>) {
  return queries.withTables<{ account: AccountRow }>();
}
