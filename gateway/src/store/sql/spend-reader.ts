/** Owns asking the records what a subject's calls have been charged within a window, before its budget binds. */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { BindingCaps, SubjectKind } from '../limits-port.ts';
import type { Tables } from './tables.ts';

const COLUMNS = {
  key: 'key_id',
  workspace: 'workspace',
  account: 'account',
  model: 'model',
  end_user: 'end_user',
} as const satisfies Record<SubjectKind, string>;

/** Every public name of a model, by any of them: a record keeps the name that the caller asked for. */
export type NamesOfModel = (model: string) => readonly string[];

/**
 * Nano-USD that calls of the subject which arrived within the window were charged: what they cost, less what the operator
 * bore of it. Reads every record of the window.
 */
export async function readSpend(
  queries: Kysely<Tables>,
  { subject, windowStartMs, windowEndMs }: BindingCaps,
  namesOfModel: NamesOfModel,
): Promise<bigint> {
  const { account, id } = splitSubject(subject.kind, subject.id);
  const names = subject.kind === 'model' ? namesOfModel(id) : [id];
  const column = sql.ref(COLUMNS[subject.kind]);
  const { rows } = await sql<{ readonly spent: string }>`
    SELECT cast(coalesce(sum(cost_nano_usd - coalesce(
        (SELECT amount FROM ledger_entry WHERE ref = request_id AND kind = 'absorb' AND nth = 0), 0)), 0) AS TEXT) AS spent
    FROM call_record
    WHERE request_id >= ${requestIdFloor(Math.max(0, windowStartMs))} AND at_ms >= ${windowStartMs}
      AND (${windowEndMs} IS NULL OR at_ms < ${windowEndMs})
      AND ${column} IN (${sql.join(names)}) AND (${account} IS NULL OR account = ${account})`.execute(queries);
  return BigInt(rows[0]?.spent ?? '0');
}

/** An end user's id begins with its account. */
function splitSubject(kind: SubjectKind, id: string): { readonly account: string | null; readonly id: string } {
  if (kind !== 'end_user') return { account: null, id };
  const slash = id.indexOf('/');
  return { account: id.slice(0, slash), id: id.slice(slash + 1) };
}
