/** Owns adding sums to the rows of the rolled-up tables. */
import type { Database } from 'bun:sqlite';
import { addSlotText, renderSlots } from './latency-slots.ts';
import { COUNTERS, type Tally } from './tally.ts';

export type SumTable = 'usage_quarter' | 'usage_day' | 'usage_caller_day';

export interface SumTables {
  add(addition: {
    readonly table: SumTable;
    readonly account: number;
    readonly kind: string;
    readonly series: number;
    readonly startMs: number;
    readonly tally: Tally;
  }): void;
  close(): void;
}

const SUMS = [...COUNTERS, 'cost', 'savings', 'latency', 'ttfb'];
const KEYS = {
  usage_quarter: ['account', 'start_ms', 'series'],
  usage_day: ['account', 'start_ms', 'series'],
  usage_caller_day: ['account', 'kind', 'start_ms', 'series'],
} as const satisfies Record<SumTable, readonly string[]>;

type Value = string | number;

export function openSumTables(database: Database): SumTables {
  const opened = {
    usage_quarter: openTable(database, 'usage_quarter'),
    usage_day: openTable(database, 'usage_day'),
    usage_caller_day: openTable(database, 'usage_caller_day'),
  };
  return {
    add({ table, account, kind, series, startMs, tally }) {
      const key = table === 'usage_caller_day' ? [account, kind, startMs, series] : [account, startMs, series];
      opened[table].add(key, tally);
    },
    close() {
      for (const table of Object.values(opened)) table.close();
    },
  };
}

function openTable(database: Database, table: SumTable) {
  const names: readonly string[] = KEYS[table];
  const isRow = names.map((name) => `${name} = ?`).join(' AND ');
  const find = database.prepare<{ latency: string; ttfb: string }, Value[]>(
    `SELECT latency, ttfb FROM ${table} WHERE ${isRow}`,
  );
  const columns = [...names, ...SUMS];
  const insert = database.prepare<unknown, Value[]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  // Money comes as decimal text, which the cast makes 64 bits of.
  const added = [
    ...COUNTERS.map((name) => `${name} = ${name} + ?`),
    ...['cost', 'savings'].map((name) => `${name} = ${name} + cast(? AS INTEGER)`),
  ];
  const update = database.prepare<unknown, Value[]>(
    `UPDATE ${table} SET ${added.join(', ')}, latency = ?, ttfb = ? WHERE ${isRow}`,
  );
  return {
    add(key: readonly Value[], { counts, cost, savings, latency, ttfb }: Tally) {
      const before = find.get(...key);
      const money = [cost.toString(), savings.toString()];
      if (before === null) {
        insert.run(...key, ...counts, ...money, renderSlots(latency), renderSlots(ttfb));
        return;
      }
      addSlotText(latency, before.latency);
      addSlotText(ttfb, before.ttfb);
      update.run(...counts, ...money, renderSlots(latency), renderSlots(ttfb), ...key);
    },
    close() {
      for (const statement of [find, insert, update]) statement.finalize();
    },
  };
}
