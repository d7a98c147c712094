/** Owns how much groups of series have of what they are ranked by: added up from blocks, and the first of them. */
import type { UsageRank } from '../../usage-port.ts';
import { NumberPlaces } from './number-places.ts';
import type { SumBlock } from './sum-block.ts';
import { MONEY_UNIT, RANKED_AT, type RankedSum, REQUESTS_AT } from './tally.ts';

export class GroupRanks {
  readonly #rankedBy: UsageRank;
  /** Of each group in the lists. */
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

  /** `groupOf`: null for a series that is not asked for. */
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

  /** At least so many, those with most first; all that have the same and as many calls as the last of them are there too. */
  first(count: number): readonly (readonly [group: number, sum: RankedSum])[] {
    const rounded = Float64Array.from(this.#groups, (_, at) => this.#rounded(at));
    const last = rounded.toSorted().at(-count) ?? Number.NEGATIVE_INFINITY;
    // Lower by more than rounding can make of it.
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
    // Down, so that what is left is never below nothing, and units are compared first.
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

/** The one with more of it first, then the one with more calls. */
function compare(one: RankedSum, other: RankedSum): number {
  return other.units - one.units || other.left - one.left || other.requests - one.requests;
}
