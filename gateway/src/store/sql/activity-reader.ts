/** Owns the queries over records by which pages show what keys and workspaces came to. Each reads the records of its time. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { ActivityReader, FailedCall, SpanSums } from '../activity-port.ts';
import type { BindingCaps, SubjectKind } from '../limits-port.ts';
import type { Tables } from './tables.ts';

const NOTHING: SpanSums = { requests: 0, errors: 0, cost: 0n };
/** What an operator bore of a call is no spend of its budgets. */
const ABSORBED = sql`coalesce((SELECT amount FROM ledger_entry WHERE ref = request_id AND kind = 'absorb' AND nth = 0), 0)`;

interface SpanRow {
  readonly id: string;
  readonly span: number;
  readonly requests: number;
  readonly errors: number;
  readonly cost: string;
}

/** Every public name of a model, by any of them. */
type NamesOfModel = (model: string) => readonly string[];

/** Over queries that may take long. */
export function createActivityReader(far: Kysely<Tables>, namesOfModel: NamesOfModel): ActivityReader {
  return {
    async readSpans({ account, by, ids, bounds }) {
      const [from, to] = [bounds[0], bounds.at(-1)];
      if (from === undefined || to === undefined || ids?.length === 0) return new Map();
      const column = sql.ref(by);
      const among = ids === null ? sql`true` : sql`${column} IN (${sql.join(ids)})`;
      const { rows } = await sql<SpanRow>`
        SELECT ${column} AS id, ${spanOf(bounds)} AS span, count(*) AS requests, sum(error IS NOT NULL) AS errors,
          cast(coalesce(sum(cost_nano_usd), 0) AS TEXT) AS cost
        FROM call_record
        WHERE request_id >= ${requestIdFloor(from)} AND at_ms >= ${from} AND at_ms < ${to}
          AND account = ${account} AND ${among}
        GROUP BY 1, 2`.execute(far);
      return gatherSpans(rows, bounds.length - 1);
    },
    async readErrors(account, keyId, fromMs, limit) {
      const { rows } = await sql<FailedCall>`
        SELECT request_id, at_ms, status, error, model FROM call_record
        WHERE request_id >= ${requestIdFloor(fromMs)} AND at_ms >= ${fromMs} AND account = ${account}
          AND key_id = ${keyId} AND error IS NOT NULL
        ORDER BY request_id DESC LIMIT ${limit}`.execute(far);
      return rows;
    },
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

/** Which span a record lies in, from 0. */
function spanOf(bounds: readonly number[]): RawBuilder<number> {
  const inner = bounds.slice(1, -1);
  if (inner.length === 0) return sql`0`;
  return sql`CASE ${sql.join(
    inner.map((bound, index) => sql`WHEN at_ms < ${bound} THEN ${sql.lit(index)}`),
    sql` `,
  )} ELSE ${sql.lit(inner.length)} END`;
}

function gatherSpans(rows: readonly SpanRow[], count: number): ReadonlyMap<string, readonly SpanSums[]> {
  const gathered = new Map<string, SpanSums[]>();
  for (const { id, span, requests, errors, cost } of rows) {
    const spans = gathered.get(id) ?? new Array<SpanSums>(count).fill(NOTHING);
    spans[span] = { requests, errors, cost: BigInt(cost) };
    gathered.set(id, spans);
  }
  return gathered;
}

function columnOf(kind: SubjectKind): RawBuilder<string> {
  switch (kind) {
    case 'key':
      return sql`key_id`;
    case 'end_user':
      return sql`account || '/' || end_user`;
    default:
      return sql`${sql.ref(kind)}`;
  }
}

/** A record keeps the name that the caller asked for: a model has several. */
function ownersByName(bindings: readonly BindingCaps[], namesOfModel: NamesOfModel): Map<string, string> {
  return new Map(
    bindings.flatMap(({ subject: { kind, id } }) =>
      (kind === 'model' ? namesOfModel(id) : [id]).map((name) => [name, id] as const),
    ),
  );
}
