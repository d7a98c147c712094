/** Owns the queries over rolled-up rows: what each group had in a span, and its sums by bucket. */
import type { Database } from 'bun:sqlite';
import type { CallCondition, UsageDimension, UsageTenant } from '../../usage-port.ts';
import { type Parameter, seriesCondition } from './conditions.ts';
import type { Span } from './plan-spans.ts';
import type { SumTable } from './sum-tables.ts';
import { COUNTERS } from './tally.ts';
import type { SeriesKind } from './usage-series.ts';

/** A part of the range in one table. */
export interface RolledPart {
  readonly table: SumTable;
  readonly span: Span;
}

export interface RolledQuestion {
  readonly tenant: UsageTenant;
  readonly condition: CallCondition;
  /** The account's number. */
  readonly account: number;
  readonly kind: SeriesKind;
  readonly by: readonly UsageDimension[];
}

const SUMMED = [
  ...COUNTERS.map((name) => `sum(${name})`),
  'cast(sum(cost) AS TEXT)',
  'cast(sum(savings) AS TEXT)',
  "group_concat(latency, '')",
  "group_concat(ttfb, '')",
].join(', ');

/** A member's calls are those of his keys. */
const COLUMN_OF: Readonly<Record<UsageDimension, string>> = {
  model: 'model',
  provider: 'provider',
  key: 'key_id',
  member: 'key_id',
  workspace: 'workspace',
  end_user: 'end_user',
  session: 'session',
  protocol: 'protocol',
};

/** A group as its rows have it: a JSON list of the columns' values. */
export type RowGroup = string;

/** How many groups there ever were. */
export function countGroups(database: Database, { tenant, condition, kind, by }: RolledQuestion): number {
  const { sql, parameters } = seriesCondition(kind, tenant, condition);
  const read = database.prepare<{ count: number }, Parameter[]>(
    `SELECT count(DISTINCT ${groupSql(by)}) AS count FROM usage_series WHERE ${sql}`,
  );
  try {
    return read.get(...parameters)?.count ?? 0;
  } finally {
    read.finalize();
  }
}

/**
 * Cost (decimal nano-USD) and calls of each group; with `also`, only of the dearest `count` and of those that it names: the
 * dearest of rows and records together are among them.
 */
export function readGroupTotals(
  database: Database,
  question: RolledQuestion,
  part: RolledPart,
  dearest: { readonly count: number; readonly also: readonly RowGroup[] } | null,
): readonly (readonly [group: RowGroup, cost: string, requests: number])[] {
  const name = groupSql(question.by);
  const selected = `${name}, cast(sum(cost) AS TEXT), sum(requests)`;
  const grouped = `GROUP BY ${columnsSql(question.by)}`;
  if (dearest === null) return query(database, question, part, { selected, chosen: '', choice: [], grouped });
  const { count, also } = dearest;
  const first = `${grouped} ORDER BY sum(cost) DESC, sum(requests) DESC, 1 LIMIT ${count}`;
  const top = query<[RowGroup, string, number]>(database, question, part, {
    selected,
    chosen: '',
    choice: [],
    grouped: first,
  });
  const known = new Set(top.map(([group]) => group));
  const others = also.filter((group) => !known.has(group));
  if (others.length === 0) return top;
  const chosen = `AND ${name} IN (SELECT value FROM json_each(?))`;
  const choice = [JSON.stringify(others)];
  return [
    ...top,
    ...query<[RowGroup, string, number]>(database, question, part, { selected, chosen, choice, grouped }),
  ];
}

/** Which groups: all (null), these, or all but these, which then come without a name. */
export interface GroupChoice {
  readonly groups: readonly RowGroup[];
  readonly others: boolean;
}

/** Lists of: group (null of others), the value of `bucketSql`, and sums as `UsageGather.takeValues` takes them. */
export function readSums(
  database: Database,
  question: RolledQuestion,
  part: RolledPart,
  bucketSql: string,
  choice: GroupChoice | null,
): readonly (readonly [group: RowGroup | null, bucket: number, ...sums: (string | number)[]])[] {
  const group = groupSql(question.by);
  const others = choice?.others ?? false;
  const chosen = choice === null ? '' : `AND ${group} ${others ? 'NOT ' : ''}IN (SELECT value FROM json_each(?))`;
  const columns = others || question.by.length === 0 ? '' : `, ${columnsSql(question.by)}`;
  return query(database, question, part, {
    selected: `${others ? 'NULL' : group}, ${bucketSql}, ${SUMMED}`,
    chosen,
    choice: choice === null ? [] : [JSON.stringify(choice.groups)],
    // Buckets first: rows of days lie in their order, and only the rest is sorted.
    grouped: `GROUP BY 2${columns}`,
  });
}

function columnsSql(by: readonly UsageDimension[]): string {
  return by.map((dimension) => `usage_series.${COLUMN_OF[dimension]}`).join(', ');
}

function groupSql(by: readonly UsageDimension[]): string {
  return `json_array(${columnsSql(by)})`;
}

interface QueryText {
  readonly selected: string;
  /** A further condition, and its values. */
  readonly chosen: string;
  readonly choice: readonly Parameter[];
  readonly grouped: string;
}

function query<Values extends readonly unknown[]>(
  database: Database,
  { tenant, condition, account, kind }: RolledQuestion,
  { table, span }: RolledPart,
  { selected, chosen, choice, grouped }: QueryText,
): readonly Values[] {
  const { sql, parameters } = seriesCondition(kind, tenant, condition);
  const isCaller = table === 'usage_caller_day';
  const read = database.prepare<unknown, Parameter[]>(
    `SELECT ${selected} FROM ${table} r CROSS JOIN usage_series ON usage_series.id = r.series
      WHERE r.account = ? ${isCaller ? 'AND r.kind = ?' : ''} AND start_ms >= ? AND start_ms < ? AND ${sql} ${chosen} ${grouped}`,
  );
  try {
    const { startMs, endMs } = span;
    return read.values(
      account,
      ...(isCaller ? [kind] : []),
      startMs,
      endMs,
      ...parameters,
      ...choice,
    ) as unknown as Values[];
  } finally {
    read.finalize();
  }
}
