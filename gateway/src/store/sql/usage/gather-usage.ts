/** Owns collecting sums by group and bucket, and what of it is shown: the dearest groups, the rest together, and all. */
import type { UsageAnswer, UsageDimension, UsageGroup, UsageQuestion } from '../../usage-port.ts';
import { bucketOf } from './plan-spans.ts';
import { addShare, addTally, addValues, newTally, type SummedRecord, shareOf, sumsOf, type Tally } from './tally.ts';

export type GroupValues = readonly (string | null)[];

/** What groups are made by: members of a record and of a series alike. */
export type Grouped = Pick<SummedRecord, 'workspace' | 'model' | 'provider' | 'protocol' | 'end_user' | 'session'> & {
  readonly key_id: string | null;
};

export const GROUPS_MAX = 100;

export class UsageGather {
  readonly #question: UsageQuestion;
  readonly #groups = new Map<string, Map<number, Tally>>();

  constructor(question: UsageQuestion) {
    this.#question = question;
  }

  /** The name of a group. */
  nameOf(one: Grouped): string {
    return JSON.stringify(this.#question.by.map((dimension) => this.#valueOf(one, dimension)));
  }

  /** The name of the group that a group of rows belongs to: the same, save that members are known there by their keys. */
  nameOfRow(group: string): string {
    const { by, owners } = this.#question;
    if (!by.includes('member')) return group;
    const values: (string | null)[] = JSON.parse(group);
    return JSON.stringify(
      values.map((value, index) => (by[index] === 'member' && value !== null ? (owners?.[value] ?? null) : value)),
    );
  }

  takeRecord(record: SummedRecord): void {
    const bucket = bucketOf(this.#question.buckets, record.at_ms);
    addShare(this.#tallyOf(this.nameOf(record), bucket), shareOf(record));
  }

  /** A row of sums, from its first counter on. */
  takeValues(name: string, bucket: number, values: readonly (string | number)[]): void {
    addValues(this.#tallyOf(name, bucket), values);
  }

  /** What each group cost so far, and how many calls it has. */
  totals(): Map<string, { cost: bigint; requests: number }> {
    const totals = new Map<string, { cost: bigint; requests: number }>();
    for (const [name, buckets] of this.#groups) {
      const sum = total(buckets);
      totals.set(name, { cost: sum.cost, requests: sum.counts[0] ?? 0 });
    }
    return totals;
  }

  /** `named`: the groups to show, the first first. `restName`: under which others were taken beside those not named. */
  answer(named: readonly string[], restName: string): UsageAnswer {
    const shown = new Set(named);
    const rest = new Map<number, Tally>();
    const all = new Map<number, Tally>();
    let hasRest = false;
    for (const [name, buckets] of this.#groups) {
      addBuckets(all, buckets);
      if (shown.has(name) && name !== restName) continue;
      hasRest = true;
      addBuckets(rest, buckets);
    }
    const none = this.#question.by.map(() => null);
    return {
      groups: named.map((name) => this.#render(JSON.parse(name), this.#groups.get(name) ?? new Map())),
      rest: hasRest ? this.#render(none, rest) : null,
      total: this.#render([], all),
    };
  }

  #tallyOf(name: string, bucket: number): Tally {
    let buckets = this.#groups.get(name);
    if (buckets === undefined) {
      buckets = new Map();
      this.#groups.set(name, buckets);
    }
    let tally = buckets.get(bucket);
    if (tally === undefined) {
      tally = newTally();
      buckets.set(bucket, tally);
    }
    return tally;
  }

  #valueOf(one: Grouped, dimension: UsageDimension): string | null {
    if (dimension === 'key') return one.key_id;
    if (dimension === 'member') return one.key_id === null ? null : (this.#question.owners?.[one.key_id] ?? null);
    return one[dimension];
  }

  #render(values: GroupValues, buckets: ReadonlyMap<number, Tally>): UsageGroup {
    return {
      values,
      sums: sumsOf(total(buckets)),
      buckets: this.#question.buckets.map((_, index) => {
        const tally = buckets.get(index);
        return tally === undefined ? null : sumsOf(tally);
      }),
    };
  }
}

function total(buckets: ReadonlyMap<number, Tally>): Tally {
  const sum = newTally();
  for (const tally of buckets.values()) addTally(sum, tally);
  return sum;
}

function addBuckets(to: Map<number, Tally>, from: ReadonlyMap<number, Tally>): void {
  for (const [bucket, tally] of from) {
    const sum = to.get(bucket) ?? newTally();
    to.set(bucket, sum);
    addTally(sum, tally);
  }
}
