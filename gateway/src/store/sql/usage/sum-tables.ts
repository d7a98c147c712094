/** Owns adding sums to the rows of the rolled-up tables. */
import type { Database } from 'bun:sqlite';
import { addSlotText, renderSlots, type Slots } from './latency-slots.ts';
import { QUARTER_MS } from './plan-spans.ts';
import { COUNTERS } from './tally.ts';
import type { SeriesKind } from './usage-series.ts';

export type SumTable = 'usage_quarter' | 'usage_day' | 'usage_caller_day';

/** What is added to one row. */
export interface Addition {
  readonly table: SumTable;
  readonly account: number;
  readonly kind: SeriesKind;
  readonly series: number;
  readonly startMs: number;
  /** As COUNTERS. */
  readonly counts: number[];
  cost: bigint;
  savings: bigint;
  /** Histograms, as `latency-slots.ts` writes them. */
  latency: string;
  ttfb: string;
}

export interface SumTables {
  add(addition: Addition): void;
  close(): void;
}

const SUMS = [...COUNTERS, 'cost', 'savings'];
const HISTOGRAMS = ['latency', 'ttfb'];
const KEYS = {
  usage_quarter: ['account', 'start_ms', 'series'],
  usage_day: ['account', 'start_ms', 'series'],
  usage_caller_day: ['account', 'kind', 'start_ms', 'series'],
} as const satisfies Record<SumTable, readonly string[]>;

/** Histograms grow by what is added, a letter for each call, and are written anew after so many letters. */
const LETTERS_MAX = 256;
/** Rows whose letters are counted; beyond it they are counted anew. */
const COUNTED_MAX = 50_000;

/** More quarters of an hour than there are until the year 2089. */
const QUARTERS_MAX = 2 ** 22;

/** A number for a row of one table: series are fewer than 2^31, and every zone's days begin with a quarter of an hour. */
export function rowNumber(series: number, startMs: number): number {
  return series * QUARTERS_MAX + startMs / QUARTER_MS;
}

type Value = string | number | bigint;

export function openSumTables(database: Database): SumTables {
  const opened = {
    usage_quarter: openTable(database, 'usage_quarter'),
    usage_day: openTable(database, 'usage_day'),
    usage_caller_day: openTable(database, 'usage_caller_day'),
  };
  return {
    add(addition) {
      const { table, account, kind, series, startMs } = addition;
      const key = table === 'usage_caller_day' ? [account, kind, startMs, series] : [account, startMs, series];
      opened[table].add(key, addition);
    },
    close() {
      for (const table of Object.values(opened)) table.close();
    },
  };
}

function openTable(database: Database, table: SumTable) {
  const names: readonly string[] = KEYS[table];
  const isRow = names.map((name) => `${name} = ?`).join(' AND ');
  const columns = [...names, ...SUMS, ...HISTOGRAMS];
  const added = [
    ...SUMS.map((name) => `${name} = ${name} + excluded.${name}`),
    ...HISTOGRAMS.map((name) => `${name} = ${name} || excluded.${name}`),
  ];
  const upsert = database.prepare<unknown, Value[]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT DO UPDATE SET ${added.join(', ')}`,
  );
  const find = database.prepare<{ latency: string; ttfb: string }, Value[]>(
    `SELECT latency, ttfb FROM ${table} WHERE ${isRow}`,
  );
  const rewrite = database.prepare<unknown, Value[]>(`UPDATE ${table} SET latency = ?, ttfb = ? WHERE ${isRow}`);
  const letters = new Map<number, number>();
  return {
    add(key: readonly Value[], { series, startMs, counts, cost, savings, latency, ttfb }: Addition) {
      upsert.run(...key, ...counts, cost, savings, latency, ttfb);
      const number = rowNumber(series, startMs);
      const count = (letters.get(number) ?? 0) + latency.length;
      if (count <= LETTERS_MAX) {
        if (letters.size >= COUNTED_MAX) letters.clear();
        letters.set(number, count);
        return;
      }
      letters.delete(number);
      const row = find.get(...key);
      if (row !== null) rewrite.run(shorten(row.latency), shorten(row.ttfb), ...key);
    },
    close() {
      for (const statement of [upsert, find, rewrite]) statement.finalize();
    },
  };
}

function shorten(text: string): string {
  const slots: Slots = new Map();
  addSlotText(slots, text);
  return renderSlots(slots);
}
