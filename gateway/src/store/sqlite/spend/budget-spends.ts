/** Queries the records for the spend of budgets shown on pages. Reads all records of their windows. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { BudgetSpends } from '../../ports/budget-spends.ts';
import type { BindingCaps, SubjectKind } from '../../ports/limits.ts';
import type { Tables } from '../tables.ts';

/** The part of a call's cost that was written off (paid by the operator) does not count against budgets. */
const ABSORBED = sql`coalesce((SELECT amount FROM ledger_entry WHERE ref = request_id AND kind = 'absorb' AND nth = 0), 0)`;

/** Returns every public name of a model, given any of them. */
type NamesOfModel = (model: string) => readonly string[];

/** `far`: queries that may take long. */
export function createBudgetSpends(far: Kysely<Tables>, namesOfModel: NamesOfModel): BudgetSpends {
  return {
    async readSpends(bindings) {
      const spends = new Map<string, bigint>();
      const [first] = bindings;
      if (first === undefined) return spends;
      const owners = ownersByName(bindings, namesOfModel);
      const column = columnOf(first.subject.kind);
      const { windowStartMs, windowEndMs } = first;
      const { rows } = await sql<{ readonly name: string; readonly spent: string }>`
        SELECT ${column} AS name, cast(coalesce(sum(cost_nano_usd - ${ABSORBED}), 0) AS TEXT) AS spent
        FROM call_record
        WHERE request_id >= ${requestIdFloor(Math.max(0, windowStartMs))} AND at_ms >= ${windowStartMs}
          AND (${windowEndMs} IS NULL OR at_ms < ${windowEndMs}) AND ${column} IN (${sql.join([...owners.keys()])})
        GROUP BY 1`.execute(far);
      for (const { name, spent } of rows) {
        const id = owners.get(name) ?? name;
        spends.set(id, (spends.get(id) ?? 0n) + BigInt(spent));
      }
      return spends;
    },
  };
}

function columnOf(kind: SubjectKind): RawBuilder<string> {
  switch (kind) {
    case 'key':
      return sql`key_id`;
    case 'end_user':
      return sql`account || '/' || coalesce(end_user, '')`;
    default:
      return sql`${sql.ref(kind)}`;
  }
}

/** A record keeps the name that the caller requested: a model has several. */
function ownersByName(bindings: readonly BindingCaps[], namesOfModel: NamesOfModel): Map<string, string> {
  return new Map(
    bindings.flatMap(({ subject: { kind, id } }) =>
      (kind === 'model' ? namesOfModel(id) : [id]).map((name) => [name, id] as const),
    ),
  );
}
