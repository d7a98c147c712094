/** Queries rolled-up usage: the series, and the stored blocks of a span. Does not add them up. */
import type { Database } from 'bun:sqlite';
import { type CallCondition, followsKey, type UsageDimension, type UsageTenant } from '../../ports/usage.ts';
import type { BlockStep } from '../rollup/block-book.ts';
import { type LatencyBlock, openLatencies, openSums, type SumBlock } from '../rollup/sum-block.ts';
import { OUTCOME_COUNTERS } from '../rollup/tally.ts';
import type { SeriesKind, UsageKind } from '../rollup/usage-series.ts';
import { type Parameter, seriesCondition } from './conditions.ts';
import type { Span, SpanPlan } from './plan-spans.ts';

/** A part of the range, in blocks of one step. */
export interface RolledPart {
  readonly step: BlockStep;
  readonly span: Span;
}

export function partsOf({ days, quarters }: Pick<SpanPlan, 'days' | 'quarters'>): RolledPart[] {
  const ofQuarters = quarters.map((span): RolledPart => ({ step: 'quarter', span }));
  return days === null ? ofQuarters : [{ step: 'day', span: days }, ...ofQuarters];
}

export interface RolledQuestion {
  readonly tenant: UsageTenant;
  readonly condition: CallCondition;
  /** The account's number. */
  readonly account: number;
  readonly kind: UsageKind;
}

/** One stored part of a place's block; a place may have several. */
export interface ReadBlock extends SumBlock {
  readonly startMs: number;
  /** Null: not requested. */
  readonly latencies: LatencyBlock | null;
}

/** A series with its values of the requested dimensions; the values of members and tags are those of their keys. */
export type SeriesRow = readonly [id: number, ...values: (string | null)[]];

export function readSeries(
  database: Database,
  { tenant, condition, kind }: Omit<RolledQuestion, 'account'>,
  by: readonly UsageDimension[],
): readonly SeriesRow[] {
  const { sql, parameters } = seriesCondition(kind, tenant, condition);
  const columns = by.map((dimension) => (followsKey(dimension) ? 'key_id' : dimension));
  const read = database.prepare<unknown, Parameter[]>(
    `SELECT ${['id', ...columns].join(', ')} FROM usage_series WHERE ${sql}`,
  );
  try {
    // The row type matches the columns of the statement.
    return read.values(...parameters) as unknown as SeriesRow[];
  } finally {
    read.finalize();
  }
}

/** The numbers of the matching series; null: all of the account's. */
export function readSeriesIds(database: Database, question: Omit<RolledQuestion, 'account'>): Set<number> | null {
  return isNarrow(question) ? new Set(readSeries(database, question, []).map(([id]) => id)) : null;
}

/** Whether the question excludes some of the account's calls. */
function isNarrow({ tenant, condition }: Pick<RolledQuestion, 'tenant' | 'condition'>): boolean {
  return tenant.workspaces !== null || Object.values(condition).some((value) => value !== null);
}

/** Ascending by start. `counts`: only the numbers of calls and their outcomes. */
export function* readBlocks(
  database: Database,
  { account, kind }: { readonly account: number; readonly kind: SeriesKind },
  { step, span }: RolledPart,
  wanted: 'counts' | 'sums' | 'latencies',
): Iterable<ReadBlock> {
  const read = database.prepare<
    { startMs: number; sums: Uint8Array; latencies?: Uint8Array },
    [number, string, string, number, number]
  >(
    `SELECT start_ms AS startMs, sums ${wanted === 'latencies' ? ', latencies' : ''} FROM usage_block
      WHERE account = ? AND kind = ? AND step = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms`,
  );
  try {
    for (const { startMs, sums, latencies } of read.iterate(account, kind, step, span.startMs, span.endMs)) {
      yield {
        startMs,
        ...openSums(sums, wanted === 'counts' ? OUTCOME_COUNTERS : undefined),
        latencies: latencies === undefined ? null : openLatencies(latencies),
      };
    }
  } finally {
    read.finalize();
  }
}

/** The starts of the quarters in the span in which the account has calls. */
export function readQuarters(database: Database, account: number, { startMs, endMs }: Span): number[] {
  return database
    .query<{ startMs: number }, [number, number, number]>(
      `SELECT DISTINCT start_ms AS startMs FROM usage_block
        WHERE account = ? AND kind = 'call' AND step = 'quarter' AND start_ms >= ? AND start_ms < ?`,
    )
    .all(account, startMs, endMs)
    .map(({ startMs }) => startMs);
}

/** Null: no quarter has usage. */
export function readOldestQuarter(database: Database, account: number): number | null {
  const oldest = database
    .query<{ startMs: number | null }, [number]>(
      "SELECT min(start_ms) AS startMs FROM usage_block WHERE account = ? AND kind = 'call' AND step = 'quarter'",
    )
    .get(account);
  return oldest?.startMs ?? null;
}
