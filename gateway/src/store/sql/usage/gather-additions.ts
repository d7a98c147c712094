/** Owns what the records of a step add to each row of the rolled-up tables, before any of it is written. */
import { QUARTER_MS } from './plan-spans.ts';
import { type Addition, rowNumber, type SumTable } from './sum-tables.ts';
import { addCounts, type SummedRecord, shareOf } from './tally.ts';
import type { UsageAccounts } from './usage-accounts.ts';
import type { SeriesBook } from './usage-series.ts';

export interface Additions {
  take(record: SummedRecord): void;
  count(): number;
  all(): Iterable<Addition>;
}

export function gatherAdditions(series: SeriesBook, accounts: UsageAccounts): Additions {
  const tables: Readonly<Record<SumTable, Map<number, Addition>>> = {
    usage_quarter: new Map(),
    usage_day: new Map(),
    usage_caller_day: new Map(),
  };

  function add(
    table: SumTable,
    place: Pick<Addition, 'account' | 'kind' | 'series' | 'startMs'>,
    { counts, cost, savings, latency, ttfb }: ReturnType<typeof shareOf>,
  ): void {
    const number = rowNumber(place.series, place.startMs);
    const addition = tables[table].get(number);
    if (addition === undefined) {
      tables[table].set(number, { table, ...place, counts: [...counts], cost, savings, latency, ttfb });
      return;
    }
    addCounts(addition.counts, counts);
    addition.cost += cost;
    addition.savings += savings;
    addition.latency += latency;
    addition.ttfb += ttfb;
  }

  return {
    take(record) {
      const { at_ms } = record;
      const account = accounts.idOf(record.account);
      const share = shareOf(record);
      const call = { account, kind: 'call', series: series.idOf('call', record) } as const;
      add('usage_quarter', { ...call, startMs: Math.floor(at_ms / QUARTER_MS) * QUARTER_MS }, share);
      const startMs = accounts.dayOf(record.account, at_ms);
      if (startMs === null) return;
      add('usage_day', { ...call, startMs }, share);
      for (const kind of ['end_user', 'session'] as const) {
        add('usage_caller_day', { account, kind, series: series.idOf(kind, record), startMs }, share);
      }
    },
    count: () => tables.usage_quarter.size + tables.usage_day.size + tables.usage_caller_day.size,
    *all() {
      for (const rows of Object.values(tables)) yield* rows.values();
    },
  };
}
