/**
 * Owns what records add to each place of the rolled-up usage, before any of it is written. It is gathered by quarters of an
 * hour; days are made of them only then.
 */
import type { BlockPlace } from './block-book.ts';
import { QUARTER_MS } from './plan-spans.ts';
import { mergeBlocks, type WholeBlock } from './sum-block.ts';
import { SumRows } from './sum-rows.ts';
import { type SummedRecord, shareOf } from './tally.ts';
import type { UsageAccounts } from './usage-accounts.ts';
import type { SeriesBook, SeriesKind } from './usage-series.ts';

export interface Additions {
  take(record: SummedRecord): void;
  /** Rows of all quarters together. */
  count(): number;
  all(): Iterable<Addition>;
}

export interface Addition {
  readonly place: BlockPlace;
  readonly block: WholeBlock;
}

interface Gathered {
  readonly account: number;
  /** Where the quarter begins, and its day; null: such a day is not kept. */
  readonly startMs: number;
  readonly dayMs: number | null;
  readonly rows: Readonly<Record<SeriesKind, SumRows>>;
}

/** More quarters of an hour than there are until the year 2089. */
const QUARTERS_MAX = 2 ** 22;

/** A number for a place of one kind: accounts are fewer than 2^31, and every zone's days begin with a quarter of an hour. */
function placeNumber(account: number, startMs: number): number {
  return account * QUARTERS_MAX + startMs / QUARTER_MS;
}

const KINDS = ['call', 'end_user', 'session'] as const satisfies readonly SeriesKind[];

export function gatherAdditions(series: SeriesBook, accounts: UsageAccounts): Additions {
  const quarters = new Map<number, Gathered>();
  let count = 0;

  function quarterOf({ account, at_ms }: SummedRecord): Gathered {
    const id = accounts.idOf(account);
    const startMs = Math.floor(at_ms / QUARTER_MS) * QUARTER_MS;
    const number = placeNumber(id, startMs);
    let quarter = quarters.get(number);
    if (quarter === undefined) {
      const rows = { call: new SumRows(), end_user: new SumRows(), session: new SumRows() };
      quarter = { account: id, startMs, dayMs: accounts.dayOf(account, at_ms), rows };
      quarters.set(number, quarter);
    }
    return quarter;
  }

  function* all(kind: SeriesKind): Iterable<Addition> {
    const blocks = [...quarters.values()].map((quarter) => ({ ...quarter, block: quarter.rows[kind].toBlock() }));
    for (const { account, startMs, block } of blocks) {
      yield { place: { account, kind, step: 'quarter', startMs }, block };
    }
    const kept = blocks.flatMap(({ dayMs, ...quarter }) => (dayMs === null ? [] : [{ ...quarter, dayMs }]));
    for (const own of Map.groupBy(kept, ({ account, dayMs }) => placeNumber(account, dayMs)).values()) {
      const [first] = own;
      if (first === undefined) continue;
      const place = { account: first.account, kind, step: 'day', startMs: first.dayMs } as const;
      yield { place, block: mergeBlocks(own.map(({ block }) => block)) };
    }
  }

  return {
    take(record) {
      const { rows } = quarterOf(record);
      const share = shareOf(record);
      const ids = series.idsOf(record);
      for (const kind of KINDS) {
        count -= rows[kind].size;
        rows[kind].add(ids[kind], share);
        count += rows[kind].size;
      }
    },
    count: () => count,
    *all() {
      for (const kind of KINDS) yield* all(kind);
    },
  };
}
