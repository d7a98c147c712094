/**
 * Gathers what records add to each place of the rolled-up usage, before it is written. Gathers by quarters of an hour;
 * days are derived from them when written.
 */

import { QUARTER_MS } from '../usage/plan-spans.ts';
import type { BlockPlace } from './block-book.ts';
import { SLOT_MAX } from './latency-slots.ts';
import { mergeBlocks, type SlotBlock, type WholeBlock } from './sum-block.ts';
import {
  type Charge,
  carryColumns,
  type RecordShare,
  type SummedRecord,
  shareOf,
  shareOfCharge,
  TALLY_LENGTH,
} from './tally.ts';
import type { UsageAccounts } from './usage-accounts.ts';
import type { SeriesBook, SeriesKind, UsageKind } from './usage-series.ts';

export interface Additions {
  take(record: SummedRecord, charge: Charge | null): void;
  /** Of a record that `take` has taken before. */
  takeCharge(record: SummedRecord, charge: Charge): void;
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
  /** The start of the quarter, and of its day; null: that day is not kept. */
  readonly startMs: number;
  readonly dayMs: number | null;
  readonly rows: Readonly<Record<SeriesKind, SumRows>>;
}

/** More quarters of an hour than there are until the year 2089. */
const QUARTERS_MAX = 2 ** 22;

/**
 * A unique number for a place of one kind: accounts are fewer than 2^31, and every zone's days begin with a quarter of
 * an hour.
 */
function placeNumber(account: number, startMs: number): number {
  return account * QUARTERS_MAX + startMs / QUARTER_MS;
}

const USAGE_KINDS = ['call', 'end_user', 'session'] as const satisfies readonly UsageKind[];
const KINDS = [...USAGE_KINDS, 'charge'] as const satisfies readonly SeriesKind[];

export function gatherAdditions(series: SeriesBook, accounts: UsageAccounts): Additions {
  const quarters = new Map<number, Gathered>();
  let count = 0;

  function quarterOf(account: string, atMs: number): Gathered {
    const id = accounts.idOf(account);
    const startMs = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
    const number = placeNumber(id, startMs);
    let quarter = quarters.get(number);
    if (quarter === undefined) {
      const rows = { call: new SumRows(), end_user: new SumRows(), session: new SumRows(), charge: new SumRows() };
      quarter = { account: id, startMs, dayMs: accounts.dayOf(account, atMs), rows };
      quarters.set(number, quarter);
    }
    return quarter;
  }

  function add(rows: SumRows, id: number, share: RecordShare): void {
    count -= rows.size;
    rows.add(id, share);
    count += rows.size;
  }

  function takeCharge(record: SummedRecord, charge: Charge): void {
    const { rows } = quarterOf(record.account, charge.endedMs);
    add(rows.charge, series.idOfCharge(record, charge.keyName), shareOfCharge(record, charge));
  }

  function* all(kind: SeriesKind): Iterable<Addition> {
    const blocks = [...quarters.values()]
      .filter(({ rows }) => rows[kind].size > 0)
      .map((quarter) => ({ ...quarter, block: quarter.rows[kind].toBlock() }));
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
    take(record, charge) {
      const { rows } = quarterOf(record.account, record.at_ms);
      const share = shareOf(record);
      const ids = series.idsOf(record);
      for (const kind of USAGE_KINDS) add(rows[kind], ids[kind], share);
      if (charge !== null) takeCharge(record, charge);
    },
    takeCharge,
    count: () => count,
    *all() {
      for (const kind of KINDS) yield* all(kind);
    },
  };
}

const ROWS_FIRST = 16;
const SLOTS = SLOT_MAX + 1;

export class SumRows {
  readonly #rows = new Map<number, number>();
  /** A Tally for each row, consecutively. */
  #sums = new Float64Array(ROWS_FIRST * TALLY_LENGTH);
  /** The row and slot of each successful call, as `row * SLOTS + slot`. */
  readonly #latency: number[] = [];
  readonly #ttfb: number[] = [];

  /** The number of series. */
  get size(): number {
    return this.#rows.size;
  }

  add(series: number, { sums, latencySlot, ttfbSlot }: RecordShare): void {
    const row = this.#rows.get(series) ?? this.#newRow(series);
    const first = row * TALLY_LENGTH;
    const all = this.#sums;
    for (let at = 0; at < TALLY_LENGTH; at++) all[first + at] = (all[first + at] ?? 0) + (sums[at] ?? 0);
    if (latencySlot !== null) this.#latency.push(row * SLOTS + latencySlot);
    if (ttfbSlot !== null) this.#ttfb.push(row * SLOTS + ttfbSlot);
  }

  toBlock(): WholeBlock {
    const series = Uint32Array.from(this.#rows.keys()).sort();
    const rows = Uint32Array.from(series, (one) => this.#rows.get(one) ?? 0);
    const sums = Array.from({ length: TALLY_LENGTH }, (_, at) => {
      const column = new Float64Array(rows.length);
      for (let nth = 0; nth < rows.length; nth++) column[nth] = this.#sums[(rows[nth] ?? 0) * TALLY_LENGTH + at] ?? 0;
      return column;
    });
    carryColumns(sums);
    const places = new Uint32Array(rows.length);
    for (let nth = 0; nth < rows.length; nth++) places[rows[nth] ?? 0] = nth;
    return {
      sums: { series, sums },
      latencies: { latency: slotsOf(this.#latency, places), ttfb: slotsOf(this.#ttfb, places) },
    };
  }

  #newRow(series: number): number {
    const row = this.#rows.size;
    this.#rows.set(series, row);
    if ((row + 1) * TALLY_LENGTH > this.#sums.length) {
      const larger = new Float64Array(this.#sums.length * 2);
      larger.set(this.#sums);
      this.#sums = larger;
    }
    return row;
  }
}

/** `places`: the position of each row in the sorted block. */
function slotsOf(calls: readonly number[], places: Uint32Array): SlotBlock {
  const sorted = Uint32Array.from(calls, (one) => {
    const slot = one % SLOTS;
    return (places[(one - slot) / SLOTS] ?? 0) * SLOTS + slot;
  }).sort();
  const ends = new Uint32Array(places.length);
  const slots = new Uint8Array(sorted.length);
  const counts = new Uint32Array(sorted.length);
  let length = 0;
  for (let at = 0; at < sorted.length; at++) {
    const one = sorted[at] ?? 0;
    if (at > 0 && one === sorted[at - 1]) {
      counts[length - 1] = (counts[length - 1] ?? 0) + 1;
      continue;
    }
    slots[length] = one % SLOTS;
    counts[length] = 1;
    length += 1;
    ends[(one - (one % SLOTS)) / SLOTS] = length;
  }
  // A row without calls ends where the one before ends.
  for (let nth = 1; nth < ends.length; nth++) ends[nth] = Math.max(ends[nth] ?? 0, ends[nth - 1] ?? 0);
  return { ends, slots: slots.subarray(0, length), counts: counts.subarray(0, length) };
}
