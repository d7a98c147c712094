/** Reads the spend of budgets from the records, for pages and to seed limits. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { BudgetSpends, NamesOfModel } from '../../ports/budget-spends.ts';
import type { BindingCaps, SubjectKind } from '../../ports/limits.ts';
import { Unavailable } from '../../ports/store-errors.ts';
import type { Tables } from '../tables.ts';
import type { SpendThread } from './spend-thread.ts';

/** The part of a call's cost that was written off (paid by the operator) does not count against budgets. */
const ABSORBED = sql`coalesce((SELECT amount FROM ledger_entry WHERE ref = request_id AND kind = 'absorb' AND nth = 0), 0)`;

/** `far`: queries that may take long. `writable`: false while the spool may hold charges. */
export function createBudgetSpends(far: Kysely<Tables>, thread: SpendThread, writable: () => boolean): BudgetSpends {
  return {
    async readSpends(bindings, namesOfModel) {
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
    async readSettled({ subject: { kind, id }, windowStartMs, windowEndMs }, namesOfModel, exceptCalls) {
      if (!writable())
        throw new Unavailable('failed', 'The charges of calls are unknown while the store accepts no writes.');
      return thread.ask({
        kind,
        names: kind === 'model' ? namesOfModel(id) : [id],
        startMs: windowStartMs,
        endMs: windowEndMs,
        exceptCalls,
      });
    },
    prepare: () => thread.prepare(),
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
