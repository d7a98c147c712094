/**
 * Adds up the usage and the cost of the answers of a batch. Its record has the sums by price, so that the cost can be
 * recomputed from the record alone: a price that depends on the length of a request is kept as the rates that applied.
 */
import type { NanoUsd } from '../../billing/money.ts';
import { chooseRates, fillPrice, type Price, type Rates, withMarkUp } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import {
  EXTRA_COUNTERS,
  type ExtraCounter,
  type MediaAndToolUsage,
  type TierWords,
  type Usage,
  type UsagePart,
  ZERO_USAGE,
} from '../../generation/usage.ts';
import type { KeptPrices } from './batch-prices.ts';

/** One answer. */
export interface BatchAnswer {
  readonly usage: Usage;
  /** As the answer names it; null: it names none. */
  readonly model: string | null;
  readonly tier: TierWords | undefined;
}

export interface BatchCost {
  /** With `parts` where answers had several prices. */
  readonly usage: Usage;
  /** Null: there was no answer. */
  readonly price_version: string | null;
  /** The exact sum of all answers, rounded once, half up. */
  readonly cost: NanoUsd;
}

const COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

type Counters = { [counter in (typeof COUNTERS)[number]]: number };
type Media = { [counter in ExtraCounter]?: number };

/** What was used at one price. */
interface Group {
  readonly price: Price;
  readonly counters: Counters;
  readonly media: Media;
}

export class BatchSum {
  readonly #prices: KeptPrices;
  readonly #groups = new Map<string, Group>();
  readonly #tools = new Map<string, number>();
  /** Prices without length tiers, by the rates that applied. */
  readonly #flat = new Map<Rates, Price>();

  constructor(prices: KeptPrices) {
    this.#prices = prices;
  }

  add({ usage, model, tier }: BatchAnswer): void {
    const { extras } = usage;
    for (const [kind, requests] of Object.entries(extras?.server_tools ?? {})) {
      this.#tools.set(kind, (this.#tools.get(kind) ?? 0) + requests);
    }
    const words = { ...tier, ...extras?.tier };
    for (const run of runsOf(usage)) this.#addRun(run, this.#prices.find(run.model ?? model, words));
  }

  #addRun({ extras: media = {}, ...run }: UsagePart, price: Price): void {
    const { counters, media: sums } = this.#groupOf(this.#flatten(price, run));
    for (const counter of COUNTERS) counters[counter] += run[counter];
    for (const counter of EXTRA_COUNTERS) {
      const count = media[counter];
      if (count !== undefined) sums[counter] = (sums[counter] ?? 0) + count;
    }
  }

  #groupOf(price: Price): Group {
    let group = this.#groups.get(price.version);
    if (group === undefined) {
      group = { price, counters: { ...ZERO_USAGE }, media: {} };
      this.#groups.set(price.version, group);
    }
    return group;
  }

  #flatten(price: Price, { input, cache_read, cache_write_5m, cache_write_1h }: Counters): Price {
    if (price.tiers.length === 0) return price;
    const rates = chooseRates(price, input + cache_read + cache_write_5m + cache_write_1h);
    let flat = this.#flat.get(rates);
    if (flat === undefined) {
      const origin = price.version.slice(0, price.version.lastIndexOf('@'));
      const list = fillPrice(rates, origin, [], price.fees ?? undefined, price.units);
      flat = withMarkUp(list, Number(price.markUpPpm));
      this.#flat.set(rates, flat);
    }
    return flat;
  }

  /** @throws RangeError where the sums are no safe integers. */
  end(): BatchCost {
    const groups = [...this.#groups.values()];
    const [first] = groups;
    if (first === undefined) return { usage: ZERO_USAGE, price_version: null, cost: 0n };
    const whole: Counters = { ...ZERO_USAGE };
    const media: Media = {};
    for (const group of groups) {
      for (const counter of COUNTERS) whole[counter] += group.counters[counter];
      for (const counter of EXTRA_COUNTERS) {
        const count = group.media[counter];
        if (count !== undefined) media[counter] = (media[counter] ?? 0) + count;
      }
    }
    const extras: MediaAndToolUsage = {
      ...media,
      ...(this.#tools.size > 0 && { server_tools: Object.fromEntries(this.#tools) }),
      ...(groups.length > 1 && { parts: groups.map(partOf) }),
    };
    const usage = Object.keys(extras).length === 0 ? whole : { ...whole, extras };
    // Vendors charge the same for a tool with any of their models; not every price states it.
    const { price } = groups.find((group) => (group.price.fees?.size ?? 0) > 0) ?? first;
    const cost = chargedNanoUsd(usage, price, (version) => this.#groups.get(version)?.price ?? price);
    return { usage, price_version: price.version, cost };
  }
}

/** The runs of an answer; one, if it states no parts. Tools are charged apart. */
function runsOf({ extras, ...counters }: Usage): readonly UsagePart[] {
  if (extras?.parts !== undefined) return extras.parts;
  return [extras === undefined ? counters : { ...counters, extras }];
}

function partOf({ price, counters, media }: Group): UsagePart {
  const part = { ...counters, price_version: price.version };
  return Object.keys(media).length === 0 ? part : { ...part, extras: media };
}
