/**
 * Sums usage by group, with buckets for the groups that are drawn, and renders the answer: the top groups, the rest
 * together, and the totals. Packs answers for the way between threads.
 */
import {
  followsKey,
  type UsageAnswer,
  type UsageBuckets,
  type UsageDimension,
  type UsageGroup,
  type UsageQuestion,
  type UsageSums,
} from '../../ports/usage.ts';
import { addSlots, addToSlot, subtractSlots } from '../rollup/latency-slots.ts';
import { addBlockSlots, addWholeSlots } from '../rollup/sum-block.ts';
import {
  addColumns,
  addTally,
  addWholeColumns,
  type Histograms,
  MONEY_UNIT,
  moneyOf,
  newHistograms,
  newTally,
  type RankedSum,
  type RecordShare,
  rankedOf,
  requestsOf,
  type SummedRecord,
  shareOf,
  subtractTally,
  sumsOf,
  type Tally,
} from '../rollup/tally.ts';
import { bucketOf } from './plan-spans.ts';
import type { ReadBlock } from './read-blocks.ts';

export const GROUPS_MAX = 100;
/** Name under which the groups beyond those shown are summed. No group has this name: group names are JSON lists. */
export const REST = 'rest';

/** Sums, with histograms where requested. */
interface Sums {
  readonly tally: Tally;
  readonly histograms: Histograms | null;
}

interface Gathered {
  readonly whole: Sums;
  /**
   * Filled from blocks only for groups that are drawn; from records always, because they are read before the drawn
   * groups are known.
   */
  readonly buckets: Map<number, Sums>;
}

export class UsageGather {
  readonly #question: UsageQuestion;
  readonly #groups = new Map<string, Gathered>();
  /** Of all groups. */
  readonly #totals = new Map<number, Sums>();

  constructor(question: UsageQuestion) {
    this.#question = question;
  }

  /** The name of a group, from its values of the dimensions; for a member or a tag, from that of their key. */
  nameOfValues(values: readonly (string | null)[]): string {
    const { by, owners, tagged } = this.#question;
    if (!by.includes('member') && !by.includes('tag')) return JSON.stringify(values);
    return JSON.stringify(
      values.map((value, index) => {
        if (value === null || (by[index] !== 'member' && by[index] !== 'tag')) return value;
        const valuesOfKeys = by[index] === 'member' ? owners : tagged?.[index];
        return valuesOfKeys?.[value] ?? null;
      }),
    );
  }

  takeRecord(record: SummedRecord): void {
    this.#addRecord(record, ADDING);
  }

  /** Subtracts a record that rows include but the range does not. */
  dropRecord(record: SummedRecord): void {
    this.#addRecord(record, SUBTRACTING);
  }

  /** Adds the nth series of a block to a group. */
  takeRow(name: string, isDrawn: boolean, bucket: number, block: ReadBlock, nth: number): void {
    const { whole, buckets } = this.#groupOf(name);
    addRow(whole, block, nth);
    if (isDrawn) addRow(this.#sumsAt(buckets, bucket), block, nth);
  }

  /** Adds the same series to the totals. */
  takeOver(bucket: number, block: ReadBlock, nth: number): void {
    addRow(this.#sumsAt(this.#totals, bucket), block, nth);
  }

  /** Adds a whole block to a group that is not drawn, and to the totals. */
  takeBlock(name: string, bucket: number, block: ReadBlock): void {
    addBlock(this.#groupOf(name).whole, block);
    addBlock(this.#sumsAt(this.#totals, bucket), block);
  }

  /** Adds all groups of another gather, which has no totals. */
  takeGroups(other: UsageGather): void {
    for (const [name, { whole, buckets }] of other.#groups) {
      const group = this.#groupOf(name);
      combine(group.whole, whole, ADDING);
      for (const [bucket, sums] of buckets) combine(this.#sumsAt(group.buckets, bucket), sums, ADDING);
    }
  }

  /** Subtracts all groups of another gather from a group that includes their calls. */
  subtract(name: string, other: UsageGather): void {
    const { whole } = this.#groupOf(name);
    for (const gathered of other.#groups.values()) combine(whole, gathered.whole, SUBTRACTING);
  }

  /** The amount of each group so far, in the ranked measure. */
  ranked(): Map<string, RankedSum> {
    const { rankedBy } = this.#question;
    return new Map([...this.#groups].map(([name, { whole }]) => [name, rankedOf(whole.tally, rankedBy)]));
  }

  /** `named`: the groups to show, in order. */
  answer(named: readonly string[]): UsageAnswer {
    const { by } = this.#question;
    const drawn = by.length === 0 ? 0 : this.#question.drawn;
    const shown = new Set(named);
    const rest = this.#newSums('sums');
    const all = this.#newSums('sums');
    for (const [name, { whole }] of this.#groups) {
      combine(all, whole, ADDING);
      if (!shown.has(name)) combine(rest, whole, ADDING);
    }
    const hasRest = requestsOf(rest.tally) > 0;
    const groups = named.map((name, nth) => this.#render(name, nth < drawn));
    return {
      groups,
      rest: hasRest ? render(rest) : null,
      others: by.length > 0 && (hasRest || named.length > drawn) ? this.#renderOthers(named.slice(0, drawn)) : null,
      total: render(all),
      totals: this.#renderBuckets(this.#totals),
    };
  }

  #addRecord(record: SummedRecord, how: Combining): void {
    const { by, buckets } = this.#question;
    const group = this.#groupOf(this.nameOfValues(by.map((dimension) => dimensionOf(record, dimension))));
    const bucket = bucketOf(buckets, record.at_ms);
    const share = shareOf(record);
    addShare(group.whole, share, how);
    addShare(this.#sumsAt(group.buckets, bucket), share, how);
    addShare(this.#sumsAt(this.#totals, bucket), share, how);
  }

  #groupOf(name: string): Gathered {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { whole: this.#newSums('sums'), buckets: new Map() };
      this.#groups.set(name, group);
    }
    return group;
  }

  #sumsAt(all: Map<number, Sums>, bucket: number): Sums {
    let sums = all.get(bucket);
    if (sums === undefined) {
      sums = this.#newSums('buckets');
      all.set(bucket, sums);
    }
    return sums;
  }

  #newSums(of: 'sums' | 'buckets'): Sums {
    const { latencies } = this.#question;
    const isTimed = latencies === 'buckets' || latencies === of;
    return { tally: newTally(), histograms: isTimed ? newHistograms() : null };
  }

  #render(name: string, isDrawn: boolean): UsageGroup {
    const { whole, buckets } = this.#groupOf(name);
    return { values: JSON.parse(name), sums: render(whole), buckets: isDrawn ? this.#renderBuckets(buckets) : null };
  }

  #renderBuckets(buckets: ReadonlyMap<number, Sums>): UsageBuckets {
    return this.#question.buckets.map((_, index) => {
      const sums = buckets.get(index);
      return sums === undefined || requestsOf(sums.tally) === 0 ? null : render(sums);
    });
  }

  /** The totals minus the drawn groups. */
  #renderOthers(drawn: readonly string[]): UsageBuckets {
    const own = drawn.map((name) => this.#groupOf(name).buckets);
    const others = new Map<number, Sums>();
    for (const [bucket, sums] of this.#totals) {
      const left = this.#sumsAt(others, bucket);
      combine(left, sums, ADDING);
      for (const buckets of own) combine(left, buckets.get(bucket), SUBTRACTING);
    }
    return this.#renderBuckets(others);
  }
}

function dimensionOf(record: SummedRecord, dimension: UsageDimension): string | null {
  return record[followsKey(dimension) ? 'key_id' : dimension];
}

/**
 * The groups with the highest amounts first, ties by number of calls. Of many groups, sorts only those that can be
 * among the top.
 */
export function chooseGroups(ranked: ReadonlyMap<string, RankedSum>): readonly string[] {
  // Groups whose only calls were subtracted again are left out.
  const totals = new Map([...ranked].filter(([, { requests }]) => requests > 0));
  const rounded = ({ units, left }: RankedSum) => units * MONEY_UNIT + left;
  const amounts = Float64Array.from(totals.size > GROUPS_MAX ? totals.values().map(rounded) : []).sort();
  const hundredth = amounts.at(-GROUPS_MAX) ?? 0;
  // Lower by more than the rounding error.
  const least = totals.size > GROUPS_MAX ? hundredth - Math.abs(hundredth) * 1e-12 : Number.NEGATIVE_INFINITY;
  return [...totals]
    .filter(([, total]) => rounded(total) >= least)
    .map(([name, { units, left, requests }]) => ({ name, amount: moneyOf(units, left), requests }))
    .sort((one, other) => {
      if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
      return other.requests - one.requests || (one.name < other.name ? -1 : 1);
    })
    .slice(0, GROUPS_MAX)
    .map(({ name }) => name);
}

const ADDING = { tally: addTally, slots: addSlots, count: 1 } as const;
const SUBTRACTING = { tally: subtractTally, slots: subtractSlots, count: -1 } as const;
type Combining = typeof ADDING | typeof SUBTRACTING;

function addRow({ tally, histograms }: Sums, { sums, latencies }: ReadBlock, nth: number): void {
  addColumns(tally, sums, nth);
  if (histograms === null || latencies === null) return;
  addBlockSlots(histograms.latency, latencies.latency, nth);
  addBlockSlots(histograms.ttfb, latencies.ttfb, nth);
}

function addBlock({ tally, histograms }: Sums, { sums, latencies }: ReadBlock): void {
  addWholeColumns(tally, sums);
  if (histograms === null || latencies === null) return;
  addWholeSlots(histograms.latency, latencies.latency);
  addWholeSlots(histograms.ttfb, latencies.ttfb);
}

function addShare({ tally, histograms }: Sums, { sums, latencySlot, ttfbSlot }: RecordShare, how: Combining): void {
  how.tally(tally, sums);
  if (histograms === null) return;
  if (latencySlot !== null) addToSlot(histograms.latency, latencySlot, how.count);
  if (ttfbSlot !== null) addToSlot(histograms.ttfb, ttfbSlot, how.count);
}

function combine(to: Sums, from: Sums | undefined, { tally, slots }: Combining): void {
  if (from === undefined) return;
  tally(to.tally, from.tally);
  if (to.histograms === null || from.histograms === null) return;
  slots(to.histograms.latency, from.histograms.latency);
  slots(to.histograms.ttfb, from.histograms.ttfb);
}

function render({ tally, histograms }: Sums): UsageSums {
  return sumsOf(tally, histograms ?? NO_HISTOGRAMS);
}

const NO_HISTOGRAMS = newHistograms();

/** For each bucket the numbers in the order of NAMES, then each of MONEY as units and remainder. NaN: null. */
type PackedBuckets = Float64Array;

/** An answer whose buckets are packed. */
export interface PackedAnswer extends Omit<UsageAnswer, 'groups' | 'others' | 'totals'> {
  readonly groups: readonly (Omit<UsageAnswer['groups'][number], 'buckets'> & {
    readonly buckets: PackedBuckets | null;
  })[];
  readonly others: PackedBuckets | null;
  readonly totals: PackedBuckets;
}

const NAMES = [
  'requests',
  'clientErrors',
  'serverErrors',
  'cancelled',
  'unpriced',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'latencyP50Ms',
  'latencyP95Ms',
  'ttfbP50Ms',
  'ttfbP95Ms',
] as const satisfies readonly (keyof UsageSums)[];
const MONEY = ['cost', 'cacheSavings'] as const satisfies readonly (keyof UsageSums)[];
const UNIT = BigInt(MONEY_UNIT);
const LENGTH = NAMES.length + 2 * MONEY.length;

export function packAnswer({ groups, others, totals, ...sums }: UsageAnswer): PackedAnswer {
  return {
    ...sums,
    groups: groups.map(({ buckets, ...group }) => ({ ...group, buckets: buckets === null ? null : pack(buckets) })),
    others: others === null ? null : pack(others),
    totals: pack(totals),
  };
}

export function openAnswer({ groups, others, totals, ...sums }: PackedAnswer): UsageAnswer {
  return {
    ...sums,
    groups: groups.map(({ buckets, ...group }) => ({ ...group, buckets: buckets === null ? null : open(buckets) })),
    others: others === null ? null : open(others),
    totals: open(totals),
  };
}

function pack(buckets: UsageBuckets): PackedBuckets {
  const packed = new Float64Array(buckets.length * LENGTH);
  for (const [index, sums] of buckets.entries()) {
    const numbers = NAMES.map((name) => sums?.[name] ?? Number.NaN);
    const money = MONEY.flatMap((name) => {
      const nanoUsd = sums?.[name] ?? 0n;
      return [Number(nanoUsd / UNIT), Number(nanoUsd % UNIT)];
    });
    packed.set([...numbers, ...money], index * LENGTH);
  }
  return packed;
}

function open(packed: PackedBuckets): UsageBuckets {
  return Array.from({ length: packed.length / LENGTH }, (_, index) => {
    const at = (name: (typeof NAMES)[number]) => packed[index * LENGTH + NAMES.indexOf(name)] ?? 0;
    if (Number.isNaN(at('requests'))) return null;
    const timeAt = (name: (typeof NAMES)[number]) => (Number.isNaN(at(name)) ? null : at(name));
    const moneyAt = (name: (typeof MONEY)[number]) => {
      const first = index * LENGTH + NAMES.length + 2 * MONEY.indexOf(name);
      return moneyOf(packed[first] ?? 0, packed[first + 1] ?? 0);
    };
    return {
      requests: at('requests'),
      clientErrors: at('clientErrors'),
      serverErrors: at('serverErrors'),
      cancelled: at('cancelled'),
      unpriced: at('unpriced'),
      input: at('input'),
      cache_read: at('cache_read'),
      cache_write_5m: at('cache_write_5m'),
      cache_write_1h: at('cache_write_1h'),
      output: at('output'),
      reasoning: at('reasoning'),
      cost: moneyAt('cost'),
      cacheSavings: moneyAt('cacheSavings'),
      latencyP50Ms: timeAt('latencyP50Ms'),
      latencyP95Ms: timeAt('latencyP95Ms'),
      ttfbP50Ms: timeAt('ttfbP50Ms'),
      ttfbP95Ms: timeAt('ttfbP95Ms'),
    };
  });
}
