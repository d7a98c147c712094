/**
 * Defines prices per unit: an image, a second of sound, a character, a search. Parses them as configured and as a version
 * text states them, and computes what units cost.
 */
import { IMAGE_KIND, UNIT_COUNTERS, type UnitCounter, type UnitUsage } from '../generation/usage.ts';
import { formatUsdPerUnit, PriceError, parseUsdPerUnit } from './money.ts';

/** Pico-USD per unit, by `second`, `character`, `search`, `image`, and `image:1024x1024/high` for a size and quality. */
export type UnitPrices = ReadonlyMap<string, bigint>;

export const NO_UNITS: UnitPrices = new Map();

type Written = string | number;

/** USD per unit as configured; images by size and quality (`1024x1024/high`), by one of the two, or all the same. */
export interface WrittenUnits {
  readonly image?: Written | { readonly [kind: string]: Written | undefined } | undefined;
  readonly second?: Written | undefined;
  readonly character?: Written | undefined;
  readonly search?: Written | undefined;
}

/** The unit of each counter. */
export const UNIT_OF = {
  images: 'image',
  seconds: 'second',
  characters: 'character',
  search_units: 'search',
} as const satisfies { readonly [counter in UnitCounter]: keyof WrittenUnits };

/** The names of the units that can have a price. */
export const UNITS: readonly (keyof WrittenUnits)[] = UNIT_COUNTERS.map((counter) => UNIT_OF[counter]);

const IMAGE = 'image:';

/** @throws PriceError naming the member that is unknown or not a usable number. */
export function parseUnitPrices(written: WrittenUnits): UnitPrices {
  for (const member of Object.keys(written)) {
    if (!(UNITS as readonly string[]).includes(member)) {
      throw new PriceError(`per_unit.${member}`, 'an unknown unit', `one of ${UNITS.join(', ')}`);
    }
  }
  const prices = new Map<string, bigint>();
  for (const unit of UNITS) {
    const price = written[unit];
    if (price === undefined) continue;
    if (typeof price !== 'object') prices.set(unit, parseUsdPerUnit(price, `per_unit.${unit}`));
    else for (const [kind, each] of sorted(price)) prices.set(IMAGE + kind, parseImagePrice(kind, each));
  }
  return prices;
}

function sorted(prices: { readonly [kind: string]: Written | undefined }) {
  return Object.entries(prices).sort(([one], [other]) => (one < other ? -1 : 1));
}

function parseImagePrice(kind: string, written: Written | undefined): bigint {
  const where = `per_unit.image.${kind}`;
  if (!IMAGE_KIND.test(kind)) throw new PriceError(where, JSON.stringify(kind), 'a size and quality: 1024x1024/high');
  return parseUsdPerUnit(written ?? '', where);
}

/** The configured form of the prices. */
export function writeUnitPrices(prices: UnitPrices): { [unit: string]: string | { [kind: string]: string } } {
  const written: { [unit: string]: string | { [kind: string]: string } } = {};
  const images: { [kind: string]: string } = {};
  for (const [name, price] of prices) {
    if (name.startsWith(IMAGE)) images[name.slice(IMAGE.length)] = formatUsdPerUnit(price);
    else written[name] = formatUsdPerUnit(price);
  }
  return Object.keys(images).length === 0 ? written : { image: images, ...written };
}

/** `;second=0.0001/1` for each unit: USD per unit. */
export function renderUnitSteps(prices: UnitPrices): string {
  return [...prices].map(([name, price]) => `;${name}=${formatUsdPerUnit(price)}/1`).join('');
}

const STEP = /^(image|second|character|search)(?::([^=]+))?=([^=/]+)\/1$/;

/** Whether a step of a version text is the price of a unit. */
export function isUnitStep(step: string): boolean {
  return step.endsWith('/1');
}

/** Null where a step is not the price of a unit. @throws PriceError */
export function parseUnitSteps(steps: readonly string[]): UnitPrices | null {
  const prices = new Map<string, bigint>();
  for (const step of steps) {
    const [, unit, kind, price = ''] = STEP.exec(step) ?? [];
    if (unit === undefined || (kind !== undefined && !(unit === 'image' && IMAGE_KIND.test(kind)))) return null;
    const name = kind === undefined ? unit : IMAGE + kind;
    if (prices.has(name)) return null;
    prices.set(name, parseUsdPerUnit(price, `price_version: ${name}`));
  }
  return prices;
}

/** `, $0.0001 per second` for each unit; of images the highest price. */
export function formatUnitWords(prices: UnitPrices): string {
  return UNIT_COUNTERS.map((counter) => {
    const [priced] = pricedUnits({ [counter]: 1 }, prices);
    const price = priced?.[2] ?? null;
    return price === null ? '' : `, $${formatUsdPerUnit(price)} per ${UNIT_OF[counter]}`;
  }).join('');
}

/** The units of a usage with their prices; null: the unit has none. */
export function pricedUnits(
  usage: UnitUsage,
  prices: UnitPrices,
): readonly (readonly [UnitCounter, number, bigint | null])[] {
  return UNIT_COUNTERS.flatMap((counter) => {
    const count = usage[counter] ?? 0;
    if (count === 0) return [];
    const price = counter === 'images' ? imagePrice(usage.image_kind, prices) : prices.get(UNIT_OF[counter]);
    return [[counter, count, price ?? null] as const];
  });
}

/** The units of a usage without a price, as members of a price: `per_unit.second`. */
export function unpricedUnits(usage: UnitUsage, prices: UnitPrices = NO_UNITS): readonly string[] {
  return pricedUnits(usage, prices).flatMap(([counter, , price]) =>
    price === null ? [`per_unit.${UNIT_OF[counter]}`] : [],
  );
}

/**
 * In pico-USD; units without a price are not included.
 * @throws RangeError where a count is not an integer ≥ 0.
 */
export function unitPicoUsd(usage: UnitUsage, prices: UnitPrices): bigint {
  let picoUsd = 0n;
  for (const [counter, count, price] of pricedUnits(usage, prices)) {
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new RangeError(`usage ${counter}: found ${count}, expected a whole number, 0 or more`);
    }
    picoUsd += BigInt(count) * (price ?? 0n);
  }
  return picoUsd;
}

/**
 * By size and quality, else by one of them, else the price of any image. The highest of all where the kind is unknown or
 * has no price, so that no image is free by omission.
 */
function imagePrice(kind: string | undefined, prices: UnitPrices): bigint | undefined {
  const [size = '', quality = ''] = kind?.split('/') ?? [];
  for (const name of kind === undefined ? [] : [kind, size, quality]) {
    const found = prices.get(IMAGE + name);
    if (found !== undefined) return found;
  }
  const any = prices.get('image');
  if (any !== undefined) return any;
  let dearest: bigint | undefined;
  for (const [name, price] of prices) {
    if (name.startsWith(IMAGE) && (dearest === undefined || price > dearest)) dearest = price;
  }
  return dearest;
}
