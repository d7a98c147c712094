/**
 * Ranks end users or sessions by the numbers of their series, and reads names only of those that can be among the top.
 */
import type { Database } from 'bun:sqlite';
import type { UsageDimension, UsageQuestion, UsageRank } from '../../ports/usage.ts';
import type { SumBlock } from '../rollup/sum-block.ts';
import { MONEY_UNIT, RANKED_AT, type RankedSum, REQUESTS_AT } from '../rollup/tally.ts';
import { firstOfCaller } from '../rollup/usage-series.ts';
import { chooseGroups, GROUPS_MAX, type UsageGather } from './gather-usage.ts';
import { type RolledPart, type RolledQuestion, readBlocks, readSeriesIds, type SeriesRow } from './read-blocks.ts';
import type { Deadline } from './scan-records.ts';

export interface RankedCallers {
  /** The names of the groups to show, in order. */
  readonly shown: readonly string[];
  /** The name of each series in these groups. */
  readonly names: ReadonlyMap<number, string>;
  readonly hasOthers: boolean;
}

type CallerKind = Exclude<RolledQuestion['kind'], 'call'>;

/** Ranks by blocks and by the records read so far. */
export function rankCallers(database: Database, rolling: Rolling, kind: CallerKind): RankedCallers {
  const { question, rolled, parts, deadline } = rolling;
  const ids = readSeriesIds(database, rolled);
  const isByWorkspace = question.by.includes('workspace');
  // The same caller in several workspaces is one group, identified by its first series.
  const firsts = isByWorkspace ? new Map<number, number>() : readFirsts(database, rolled);
  const groupOf = (series: number) => (ids !== null && !ids.has(series) ? null : (firsts.get(series) ?? series));
  const ranks = new GroupRanks(question.rankedBy);
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, 'sums')) {
      ranks.addBlock(block, groupOf);
      deadline.check();
    }
  }
  const onlyRecords = addRecords(database, rolling, kind, ranks);
  const candidates = new Map(ranks.first(GROUPS_MAX));
  const names = readNames(database, rolling, [...candidates.keys()]);
  const totals = new Map<string, RankedSum>(onlyRecords);
  for (const [group, name] of names) totals.set(name, candidates.get(group) ?? NOTHING);
  const shown = chooseGroups(totals);
  return {
    shown,
    names: namesOfSeries(names, new Set(shown), firsts, ids),
    hasOthers: ranks.size + onlyRecords.size > shown.length,
  };
}

const NOTHING: RankedSum = { units: 0, left: 0, requests: 0 };

/** Adds records to the groups that have series; returns the sums of the others by name. */
function addRecords(
  database: Database,
  { question: { by }, rolled, gather }: Rolling,
  kind: CallerKind,
  ranks: GroupRanks,
): Map<string, RankedSum> {
  const others = new Map<string, RankedSum>();
  const isByWorkspace = by.includes('workspace');
  const find = database.prepare<{ id: number | null }, (string | null)[]>(
    `${firstOfCaller(kind)}${isByWorkspace ? ' AND workspace IS ?' : ''}`,
  );
  try {
    for (const [name, sum] of gather.ranked()) {
      const values: readonly (string | null)[] = JSON.parse(name);
      const valueIn = (dimension: UsageDimension) => values[by.indexOf(dimension)] ?? null;
      const group = find.get(
        rolled.tenant.account,
        valueIn(kind),
        ...(isByWorkspace ? [valueIn('workspace')] : []),
      )?.id;
      if (group === null || group === undefined) others.set(name, sum);
      else ranks.add(group, sum);
    }
    return others;
  } finally {
    find.finalize();
  }
}

/** Series → the first series of the same caller; only for series that are not the first. */
function readFirsts(database: Database, { tenant, kind }: RolledQuestion): Map<number, number> {
  const read = database.prepare<unknown, [string, string]>(
    `SELECT id, same_as FROM usage_series INDEXED BY usage_series_same
      WHERE account = ? AND kind = ? AND same_as IS NOT NULL`,
  );
  try {
    // The statement selects these two columns.
    return new Map(read.values(tenant.account, kind) as unknown as [number, number][]);
  } finally {
    read.finalize();
  }
}

function readNames(database: Database, { question, gather }: Rolling, groups: readonly number[]): Map<number, string> {
  const read = database.prepare<unknown, [string]>(
    `SELECT ${['id', ...question.by].join(', ')} FROM usage_series WHERE id IN (SELECT value FROM json_each(?))`,
  );
  try {
    // The row type matches the columns of the statement.
    const rows = read.values(JSON.stringify(groups)) as unknown as SeriesRow[];
    return new Map(rows.map(([id, ...values]) => [id, gather.nameOfValues(values)]));
  } finally {
    read.finalize();
  }
}

function namesOfSeries(
  names: ReadonlyMap<number, string>,
  shown: ReadonlySet<string>,
  firsts: ReadonlyMap<number, number>,
  ids: ReadonlySet<number> | null,
): Map<number, string> {
  const all = new Map([...names].filter(([, name]) => shown.has(name)));
  for (const [series, first] of firsts) {
    const name = all.get(first);
    if (name !== undefined) all.set(series, name);
  }
  return ids === null ? all : new Map([...all].filter(([series]) => ids.has(series)));
}

export class GroupRanks {
  readonly #rankedBy: UsageRank;
  /** Index of each group in the lists below. */
  readonly #places = new NumberPlaces();
  readonly #groups: number[] = [];
  readonly #units: number[] = [];
  readonly #left: number[] = [];
  readonly #requests: number[] = [];

  constructor(rankedBy: UsageRank) {
    this.#rankedBy = rankedBy;
  }

  get size(): number {
    return this.#groups.length;
  }

  /** `groupOf`: null for a series that does not match. */
  addBlock({ series, sums }: SumBlock, groupOf: (series: number) => number | null): void {
    const at = RANKED_AT[this.#rankedBy];
    const requests = sums[REQUESTS_AT];
    const units = at.units === null ? undefined : sums[at.units];
    const [first, ...more] = at.left.map((one) => sums[one]);
    for (let nth = 0; nth < series.length; nth++) {
      const group = groupOf(series[nth] ?? 0);
      if (group === null) continue;
      let left = first?.[nth] ?? 0;
      for (let other = 0; other < more.length; other++) left += more[other]?.[nth] ?? 0;
      this.#add(group, units?.[nth] ?? 0, left, requests?.[nth] ?? 0);
    }
  }

  add(group: number, { units, left, requests }: RankedSum): void {
    this.#add(group, units, left, requests);
  }

  /**
   * At least `count` groups, the highest amounts first; includes all that tie with the last one in amount and calls.
   */
  first(count: number): readonly (readonly [group: number, sum: RankedSum])[] {
    const rounded = Float64Array.from(this.#groups, (_, at) => this.#rounded(at));
    const last = rounded.toSorted().at(-count) ?? Number.NEGATIVE_INFINITY;
    // Lower by more than the rounding error.
    const least = last - Math.abs(last) * 1e-12;
    const places: number[] = [];
    for (let at = 0; at < rounded.length; at++) if ((rounded[at] ?? 0) >= least) places.push(at);
    const sorted = places.map((at) => [this.#groups[at] ?? 0, this.#sumAt(at)] as const);
    sorted.sort(([, one], [, other]) => compare(one, other));
    const end = sorted[count - 1];
    return end === undefined ? sorted : sorted.filter(([, sum]) => compare(sum, end[1]) <= 0);
  }

  *all(): Iterable<readonly [group: number, sum: RankedSum]> {
    for (const [at, group] of this.#groups.entries()) yield [group, this.#sumAt(at)];
  }

  #add(group: number, units: number, left: number, requests: number): void {
    const at = this.#places.placeOf(group);
    if (at === this.#groups.length) this.#addPlace(group);
    const sum = (this.#left[at] ?? 0) + left;
    // Rounds down, so that the remainder is never negative and units can be compared first.
    const over = Math.floor(sum / MONEY_UNIT);
    this.#units[at] = (this.#units[at] ?? 0) + units + over;
    this.#left[at] = sum - over * MONEY_UNIT;
    this.#requests[at] = (this.#requests[at] ?? 0) + requests;
  }

  #addPlace(group: number): void {
    this.#groups.push(group);
    this.#units.push(0);
    this.#left.push(0);
    this.#requests.push(0);
  }

  #rounded(at: number): number {
    return (this.#units[at] ?? 0) * MONEY_UNIT + (this.#left[at] ?? 0);
  }

  #sumAt(at: number): RankedSum {
    return { units: this.#units[at] ?? 0, left: this.#left[at] ?? 0, requests: this.#requests[at] ?? 0 };
  }
}

/** By amount, then by number of calls, both descending. */
function compare(one: RankedSum, other: RankedSum): number {
  return other.units - one.units || other.left - one.left || other.requests - one.requests;
}

/** Minimum number of slots for each known number: fewer than half of them are taken. */
const SPARE = 2;
const SLOTS_FIRST = 1_024;
/**
 * 2^32 divided by the golden ratio, which spreads consecutive numbers.
 * https://en.wikipedia.org/wiki/Hash_function#Fibonacci_hashing
 */
const SPREAD = 0x9e3779b1;

export class NumberPlaces {
  /** A number, or 0 for an empty slot. */
  #numbers = new Uint32Array(SLOTS_FIRST);
  #places = new Uint32Array(SLOTS_FIRST);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The place of a number from 1 to 2^32 - 1; a new number gets the next place. */
  placeOf(number: number): number {
    const slot = this.#slotOf(number);
    if (this.#numbers[slot] === number) return this.#places[slot] ?? 0;
    const place = this.#size++;
    this.#numbers[slot] = number;
    this.#places[slot] = place;
    if (this.#size * SPARE > this.#numbers.length) this.#grow();
    return place;
  }

  /** The slot of a number, or the empty one where it belongs. */
  #slotOf(number: number): number {
    const last = this.#numbers.length - 1;
    let slot = (Math.imul(number, SPREAD) >>> 8) & last;
    while (this.#numbers[slot] !== 0 && this.#numbers[slot] !== number) slot = (slot + 1) & last;
    return slot;
  }

  #grow(): void {
    const [numbers, places] = [this.#numbers, this.#places];
    this.#numbers = new Uint32Array(numbers.length * 4);
    this.#places = new Uint32Array(numbers.length * 4);
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] ?? 0;
      if (number === 0) continue;
      const slot = this.#slotOf(number);
      this.#numbers[slot] = number;
      this.#places[slot] = places[at] ?? 0;
    }
  }
}

export interface Rolling {
  readonly question: UsageQuestion;
  readonly rolled: RolledQuestion;
  readonly parts: readonly RolledPart[];
  readonly deadline: Deadline;
  /** Contains the sums of the records, and receives those of the blocks. */
  readonly gather: UsageGather;
}
