/** Owns the queries over rolled-up rows: which series there are, and the rows of a span as they stand. Grouping them is not done here. */
import type { Database } from 'bun:sqlite';
import type { CallCondition, UsageDimension, UsageTenant } from '../../usage-port.ts';
import { type Parameter, seriesCondition } from './conditions.ts';
import type { Span } from './plan-spans.ts';
import type { SumTable } from './sum-tables.ts';
import { COUNTERS, MONEY_UNIT } from './tally.ts';
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
}

/** What is read of rows; null: of all the account's. */
type SeriesIds = Iterable<number> | null;

/** A row's money is read in two numbers, whole units and what is left: one would lose its last digits without a word. */
const inUnits = (sum: string) => [`${sum} / ${MONEY_UNIT}`, `${sum} % ${MONEY_UNIT}`];
const MEMBERS = [...COUNTERS, ...inUnits('cost'), ...inUnits('savings')];
const TOTALS = [...COUNTERS.map((name) => `sum(${name})`), ...inUnits('sum(cost)'), ...inUnits('sum(savings)')];

/** When a row begins, its series, then the sums as a Tally has them; with latencies, the two histograms after that. */
export type RolledRow = readonly [startMs: number, series: number, ...sums: (number | string)[]];

export const ROW_SUMS_AT = 2;

/** A series of the rows, with its values of the dimensions that are asked for; a member's are those of his keys. */
export type SeriesRow = readonly [id: number, ...values: (string | null)[]];

/** Series with the number `fromId` or a higher one: they are numbered as they come. */
export function readSeries(
  database: Database,
  { tenant, condition, kind }: RolledQuestion,
  by: readonly UsageDimension[],
  fromId: number,
): readonly SeriesRow[] {
  const { sql, parameters } = seriesCondition(kind, tenant, condition);
  const columns = by.map((dimension) => (dimension === 'key' || dimension === 'member' ? 'key_id' : dimension));
  const read = database.prepare<unknown, Parameter[]>(
    `SELECT ${['id', ...columns].join(', ')} FROM usage_series WHERE ${sql} AND id >= ?`,
  );
  try {
    // The statement's columns are those of the row's type.
    return read.values(...parameters, fromId) as unknown as SeriesRow[];
  } finally {
    read.finalize();
  }
}

export function readRows(
  database: Database,
  question: RolledQuestion,
  part: RolledPart,
  series: SeriesIds,
  withLatencies: boolean,
): readonly RolledRow[] {
  const histograms = withLatencies ? ['latency', 'ttfb'] : [];
  return query(database, question, part, ['start_ms', 'series', ...MEMBERS, ...histograms], series, '');
}

/** All series of the account together, a row for each beginning; their series is 0. */
export function readRowTotals(
  database: Database,
  question: RolledQuestion,
  part: RolledPart,
  withLatencies: boolean,
): readonly RolledRow[] {
  const histograms = withLatencies ? ["group_concat(latency, '')", "group_concat(ttfb, '')"] : [];
  return query(database, question, part, ['start_ms', '0', ...TOTALS, ...histograms], null, 'GROUP BY start_ms');
}

/** What a ranking goes by: a row for each series and beginning, with its cost in units and what is left, and its calls. */
export function readRowCosts(
  database: Database,
  question: RolledQuestion,
  part: RolledPart,
  series: SeriesIds,
): readonly (readonly [series: number, units: number, left: number, requests: number])[] {
  return query(database, question, part, ['series', ...inUnits('cost'), 'requests'], series, '');
}

function query<Row extends readonly (number | string)[]>(
  database: Database,
  { account, kind }: RolledQuestion,
  { table, span }: RolledPart,
  columns: readonly string[],
  series: SeriesIds,
  grouped: string,
): readonly Row[] {
  const isCaller = table === 'usage_caller_day';
  const among = series === null ? '' : 'AND series IN (SELECT value FROM json_each(?))';
  const read = database.prepare<unknown, Parameter[]>(
    `SELECT ${columns.join(', ')} FROM ${table}
      WHERE account = ? ${isCaller ? 'AND kind = ?' : ''} AND start_ms >= ? AND start_ms < ? ${among} ${grouped}`,
  );
  try {
    const { startMs, endMs } = span;
    const ids = series === null ? [] : [JSON.stringify([...series])];
    // The statement's columns are those of the row's type.
    return read.values(account, ...(isCaller ? [kind] : []), startMs, endMs, ...ids) as unknown as Row[];
  } finally {
    read.finalize();
  }
}
