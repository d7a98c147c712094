/** Owns collecting sums by group and bucket, and what of it is shown: the dearest groups, the rest together, and all. */
import type { UsageAnswer, UsageDimension, UsageGroup, UsageQuestion } from '../../usage-port.ts';
import { addSlots, addToSlot, subtractSlots } from './latency-slots.ts';
import { bucketOf } from './plan-spans.ts';
import type { ReadBlock } from './read-blocks.ts';
import { addBlockSlots } from './sum-block.ts';
import {
  addColumns,
  addTally,
  type Histograms,
  MONEY_UNIT,
  moneyOf,
  newHistograms,
  newTally,
  type RankedSum,
  rankedOf,
  type SummedRecord,
  shareOf,
  subtractTally,
  sumsOf,
  type Tally,
} from './tally.ts';

export type GroupValues = readonly (string | null)[];

export const GROUPS_MAX = 100;
/** Under which groups beyond those to show are taken. No group has this name: they are JSON lists. */
export const REST = 'rest';

interface Gathered {
  readonly buckets: Map<number, Tally>;
  /** Of each bucket, where they are asked for; else of all of them under WHOLE. */
  readonly histograms: Map<number, Histograms>;
}

const WHOLE = -1;

export class UsageGather {
  readonly #question: UsageQuestion;
  readonly #groups = new Map<string, Gathered>();

  constructor(question: UsageQuestion) {
    this.#question = question;
  }

  /** The name of a group, by its values of the dimensions; of a member, by that of his key. */
  nameOfValues(values: readonly (string | null)[]): string {
    const { by, owners } = this.#question;
    if (!by.includes('member')) return JSON.stringify(values);
    return JSON.stringify(
      values.map((value, index) => (by[index] === 'member' && value !== null ? (owners?.[value] ?? null) : value)),
    );
  }

  takeRecord(record: SummedRecord): void {
    const group = this.#groupOf(
      this.nameOfValues(this.#question.by.map((dimension) => dimensionOf(record, dimension))),
    );
    const bucket = bucketOf(this.#question.buckets, record.at_ms);
    const share = shareOf(record);
    addTally(tallyOf(group, bucket), share.sums);
    const histograms = this.#histogramsOf(group, bucket);
    if (histograms === null) return;
    if (share.latencySlot !== null) addToSlot(histograms.latency, share.latencySlot, 1);
    if (share.ttfbSlot !== null) addToSlot(histograms.ttfb, share.ttfbSlot, 1);
  }

  /** The nth series of a block. */
  takeRow(name: string, bucket: number, { sums, latencies }: ReadBlock, nth: number): void {
    const group = this.#groupOf(name);
    addColumns(tallyOf(group, bucket), sums, nth);
    const histograms = this.#histogramsOf(group, bucket);
    if (histograms === null || latencies === null) return;
    addBlockSlots(histograms.latency, latencies.latency, nth);
    addBlockSlots(histograms.ttfb, latencies.ttfb, nth);
  }

  /** All groups of another. */
  takeGroups(other: UsageGather): void {
    for (const [name, gathered] of other.#groups) combine(this.#groupOf(name), gathered, ADDING);
  }

  /** All of another as one group. */
  takeAs(name: string, other: UsageGather): void {
    for (const gathered of other.#groups.values()) combine(this.#groupOf(name), gathered, ADDING);
  }

  /** Takes all groups of another off the one that this one has. */
  subtract(other: UsageGather): void {
    const [whole = this.#groupOf('[]')] = this.#groups.values();
    for (const gathered of other.#groups.values()) combine(whole, gathered, SUBTRACTING);
  }

  /** What each group cost so far, and how many calls it has. */
  totals(): Map<string, RankedSum> {
    return new Map([...this.#groups].map(([name, { buckets }]) => [name, rankedOf(total(buckets))]));
  }

  /** `named`: the groups to show, the first first. */
  answer(named: readonly string[]): UsageAnswer {
    const shown = new Set(named);
    const rest = newGathered();
    const all = newGathered();
    let hasRest = false;
    for (const [name, gathered] of this.#groups) {
      combine(all, gathered, ADDING);
      if (shown.has(name)) continue;
      hasRest = true;
      combine(rest, gathered, ADDING);
    }
    const none = this.#question.by.map(() => null);
    return {
      groups: named.map((name) => this.#render(JSON.parse(name), this.#groups.get(name) ?? newGathered())),
      rest: hasRest ? this.#render(none, rest) : null,
      total: this.#render([], all),
    };
  }

  #groupOf(name: string): Gathered {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = newGathered();
      this.#groups.set(name, group);
    }
    return group;
  }

  /** Null: they are not asked for. */
  #histogramsOf({ histograms }: Gathered, bucket: number): Histograms | null {
    const { latencies } = this.#question;
    if (latencies === 'none') return null;
    return histogramsAt(histograms, latencies === 'sums' ? WHOLE : bucket);
  }

  #render(values: GroupValues, { buckets, histograms }: Gathered): UsageGroup {
    const whole = newHistograms();
    for (const { latency, ttfb } of histograms.values()) {
      addSlots(whole.latency, latency);
      addSlots(whole.ttfb, ttfb);
    }
    return {
      values,
      sums: sumsOf(total(buckets), whole),
      buckets: this.#question.buckets.map((_, index) => {
        const tally = buckets.get(index);
        return tally === undefined ? null : sumsOf(tally, histograms.get(index) ?? NO_HISTOGRAMS);
      }),
    };
  }
}

function dimensionOf(record: SummedRecord, dimension: UsageDimension): string | null {
  return record[dimension === 'key' || dimension === 'member' ? 'key_id' : dimension];
}

/** The dearest first; of those that cost the same, the one with more calls. Of many groups only those that can be among them are sorted. */
export function chooseGroups(totals: ReadonlyMap<string, RankedSum>): readonly string[] {
  const rounded = ({ units, left }: RankedSum) => units * MONEY_UNIT + left;
  const costs = Float64Array.from(totals.size > GROUPS_MAX ? totals.values().map(rounded) : []).sort();
  const hundredth = costs.at(-GROUPS_MAX) ?? 0;
  // Lower by more than rounding can make of it.
  const least = totals.size > GROUPS_MAX ? hundredth - Math.abs(hundredth) * 1e-12 : Number.NEGATIVE_INFINITY;
  return [...totals]
    .filter(([, total]) => rounded(total) >= least)
    .map(([name, { units, left, requests }]) => ({ name, cost: moneyOf(units, left), requests }))
    .sort((one, other) => {
      if (one.cost !== other.cost) return one.cost > other.cost ? -1 : 1;
      return other.requests - one.requests || (one.name < other.name ? -1 : 1);
    })
    .slice(0, GROUPS_MAX)
    .map(({ name }) => name);
}

const NO_HISTOGRAMS = newHistograms();
const ADDING = { tally: addTally, slots: addSlots } as const;
const SUBTRACTING = { tally: subtractTally, slots: subtractSlots } as const;

function newGathered(): Gathered {
  return { buckets: new Map(), histograms: new Map() };
}

function tallyOf({ buckets }: Gathered, bucket: number): Tally {
  let tally = buckets.get(bucket);
  if (tally === undefined) {
    tally = newTally();
    buckets.set(bucket, tally);
  }
  return tally;
}

function histogramsAt(all: Map<number, Histograms>, at: number): Histograms {
  let histograms = all.get(at);
  if (histograms === undefined) {
    histograms = newHistograms();
    all.set(at, histograms);
  }
  return histograms;
}

/** A bucket in which no call is left is none. */
function combine(to: Gathered, from: Gathered, { tally, slots }: typeof ADDING | typeof SUBTRACTING): void {
  for (const [bucket, other] of from.buckets) {
    const sum = tallyOf(to, bucket);
    tally(sum, other);
    if (rankedOf(sum).requests === 0) to.buckets.delete(bucket);
  }
  for (const [at, { latency, ttfb }] of from.histograms) {
    const sum = histogramsAt(to.histograms, at);
    slots(sum.latency, latency);
    slots(sum.ttfb, ttfb);
  }
}

function total(buckets: ReadonlyMap<number, Tally>): Tally {
  const sum = newTally();
  for (const tally of buckets.values()) addTally(sum, tally);
  return sum;
}
