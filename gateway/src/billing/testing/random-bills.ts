/**
 * Generates random calls with their bills, and the exact fractions to compare them with. The fractions are computed
 * from the digits of the price texts, independently of the parser and formula under test.
 */
import { extrasOf, type Usage } from '../../generation/usage.ts';
import { parseConfigPrice } from '../config-price.ts';
import { parsePriceVersion, withMarkUp } from '../price.ts';
import { costNanoUsd } from '../price-book.ts';

/** A decimal as its whole part and its millionths. */
type Digits = readonly [whole: number, millionths: number];

const RATES = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'audio_input',
  'audio_cache_read',
  'audio_output',
  'image_input',
  'image_output',
  'cache_write_30m',
] as const;
type Written = Readonly<Record<(typeof RATES)[number], Digits>>;

const TOOLS = ['web_search', 'web_fetch'] as const;
type Fees = Readonly<Record<(typeof TOOLS)[number], Digits>>;

/** Prices per unit with their first and last six decimals. */
const UNITS = ['image', 'second', 'character', 'search'] as const;
const KINDS = ['1024x1024/high', '1024x1024', 'low'] as const;
type UnitDigits = readonly [whole: number, millionths: number, rest: number];
type Units = Readonly<Record<(typeof UNITS)[number] | (typeof KINDS)[number], UnitDigits>>;

/** Result of billing random calls. Rates in pico-USD and ppm yield units of USD × 10⁻¹⁸. */
export interface BillTally {
  /**
   * The first few bills that differ from the exact fraction rounded half up, or from a recomputation from their
   * version.
   */
  readonly faults: readonly string[];
  /** Bills whose fraction was exactly between two nano-dollars. */
  readonly ties: number;
  readonly tiered: number;
  readonly markedUp: number;
  /** Bills with audio, images, units or tools that ran upstream. */
  readonly extras: number;
  /** Sum of the bills − sum of the fractions, and its maximum: half a nano-dollar per bill. USD × 10⁻¹⁸. */
  readonly drift: bigint;
  readonly driftMax: bigint;
}

const NANO = 1_000_000_000n;
const HALF_NANO = NANO / 2n;
/** Parsing a price takes longer than billing a call. */
const CALLS_PER_PRICE = 4;

/** Bills `calls` random calls; the same seed yields the same calls on every machine. */
export function billRandomCalls(calls: number, seed: number): BillTally {
  const random = randomNumbers(seed);
  const faults: string[] = [];
  let [ties, tiered, markedUp, extras, drift] = [0, 0, 0, 0, 0n];
  let terms = randomTerms(random);
  for (let call = 0; call < calls; call++) {
    if (call % CALLS_PER_PRICE === 0) terms = randomTerms(random);
    const { base, long, above, fees, units, ppm, price, reread } = terms;
    const usage = randomUsage(random);
    const inTier = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h > above;
    const nano = costNanoUsd(usage, price);
    const exact = exactCost(usage, inTier ? long : base, fees, units, ppm);
    const error = nano * NANO - exact;
    if (error <= -HALF_NANO || error > HALF_NANO)
      faults.push(`call ${call}: ${nano} nano-USD for ${exact} × 10⁻¹⁸ USD`);
    if (costNanoUsd(usage, reread) !== nano) faults.push(`call ${call}: ${price.version}`);
    if (faults.length > 5) break;
    ties += error === HALF_NANO ? 1 : 0;
    tiered += inTier ? 1 : 0;
    markedUp += ppm === 0 ? 0 : 1;
    extras += usage.extras === undefined ? 0 : 1;
    drift += error;
  }
  return { faults, ties, tiered, markedUp, extras, drift, driftMax: HALF_NANO * BigInt(calls) };
}

/** A price with its written digits, and the price parsed back from its version text. */
function randomTerms(random: (below: number) => number) {
  const [base, long] = [writeRates(random), writeRates(random)];
  const above = 1 + random(6_000_000);
  const ppm = random(3) === 0 ? random(2_000_000) - 1_000_000 : 0;
  const fees: Fees = { web_search: writeDigits(random), web_fetch: writeDigits(random) };
  const tiers = [{ above, ...renderRates(long) }];
  const per_1000_requests = { web_search: renderDigits(fees.web_search), web_fetch: renderDigits(fees.web_fetch) };
  const units = Object.fromEntries(
    [...UNITS, ...KINDS].map((unit) => [unit, [random(3), random(1_000_000), random(1_000_000)]]),
  ) as unknown as Units;
  const image = Object.fromEntries(KINDS.map((kind) => [kind, renderUnit(units[kind])]));
  const [second, character, search] = [units.second, units.character, units.search].map(renderUnit);
  // One price for all images, or one by size and quality.
  const ofImages = random(2) === 0 ? { image } : { image: renderUnit(units.image) };
  const per_unit = { ...ofImages, second, character, search };
  const price = withMarkUp(parseConfigPrice({ ...renderRates(base), tiers, per_1000_requests, per_unit }), ppm);
  const imagePrices = typeof ofImages.image === 'string' ? null : KINDS;
  return {
    base,
    long,
    above,
    fees,
    units: { units, imagePrices },
    ppm,
    price,
    reread: parsePriceVersion(price.version),
  };
}

interface PricedUnits {
  readonly units: Units;
  /** Null: all images cost the same. */
  readonly imagePrices: typeof KINDS | null;
}

/** Counts each token once, at the rate of its kind: a part is subtracted from its whole. */
function exactCost(usage: Usage, rates: Written, fees: Fees, { units, imagePrices }: PricedUnits, ppm: number): bigint {
  const { extras = {} } = usage;
  const { audio_input = 0, audio_cache_read = 0, audio_output = 0, image_input = 0, image_output = 0 } = extras;
  const { cache_write_30m = 0 } = extras;
  const counts = {
    ...usage,
    input: usage.input - audio_input - image_input,
    cache_read: usage.cache_read - audio_cache_read,
    cache_write_5m: usage.cache_write_5m - cache_write_30m,
    output: usage.output - usage.reasoning - audio_output - image_output,
    audio_input,
    audio_cache_read,
    audio_output,
    image_input,
    image_output,
    cache_write_30m,
  };
  const tokens = RATES.reduce((sum, member) => sum + BigInt(counts[member]) * millionths(rates[member]), 0n);
  const requests = TOOLS.reduce(
    // A millionth of a USD per 1,000 requests is 10⁻⁹ USD per request: a thousand pico-USD.
    (sum, kind) => sum + BigInt(extras.server_tools?.[kind] ?? 0) * millionths(fees[kind]) * 1_000n,
    0n,
  );
  const { images = 0, seconds = 0, characters = 0, search_units = 0, image_kind } = extras;
  const dearest = KINDS.map((kind) => picoUsd(units[kind])).reduce((most, one) => (one > most ? one : most));
  const sized = KINDS.find((kind) => image_kind === kind || image_kind?.split('/').includes(kind));
  const each = imagePrices === null ? picoUsd(units.image) : sized === undefined ? dearest : picoUsd(units[sized]);
  const counted =
    BigInt(images) * each +
    BigInt(seconds) * picoUsd(units.second) +
    BigInt(characters) * picoUsd(units.character) +
    BigInt(search_units) * picoUsd(units.search);
  return (tokens + requests + counted) * BigInt(1_000_000 + ppm);
}

function picoUsd([whole, part, rest]: UnitDigits): bigint {
  return (BigInt(whole) * 1_000_000n + BigInt(part)) * 1_000_000n + BigInt(rest);
}

function renderUnit([whole, part, rest]: UnitDigits): string {
  return `${whole}.${String(part).padStart(6, '0')}${String(rest).padStart(6, '0')}`;
}

function millionths([whole, part]: Digits): bigint {
  return BigInt(whole) * 1_000_000n + BigInt(part);
}

/** Every eighth call is tiny, so that rounding is most of the bill. Every third has more than text. */
function randomUsage(random: (below: number) => number): Usage {
  const most = random(8) === 0 ? 10 : 2_000_000;
  const [plain, reasoning] = [random(most / 10), random(most / 40)];
  const usage = {
    input: random(most),
    cache_read: random(most),
    cache_write_5m: random(most),
    cache_write_1h: random(most),
    output: plain + reasoning,
    reasoning,
  };
  if (random(3) !== 0) return usage;
  const audio_input = random(usage.input + 1);
  const audio_output = random(plain + 1);
  const extras = extrasOf(
    {
      audio_input,
      audio_cache_read: random(usage.cache_read + 1),
      audio_output,
      image_input: random(usage.input - audio_input + 1),
      image_output: random(plain - audio_output + 1),
      cache_write_30m: random(usage.cache_write_5m + 1),
    },
    TOOLS.map((kind) => [kind, random(20)]),
  );
  const kinds = ['1024x1024/high', '1024x1024/medium', '512x512/low', '512x512/high'];
  const units = {
    images: random(3),
    seconds: random(4_000),
    characters: random(5_000),
    search_units: random(4),
    ...(random(2) === 0 ? {} : { image_kind: kinds[random(4)] ?? '' }),
  };
  return { ...usage, extras: { ...extras, ...units } };
}

function writeRates(random: (below: number) => number): Written {
  return Object.fromEntries(RATES.map((member) => [member, writeDigits(random)])) as Written;
}

function writeDigits(random: (below: number) => number): Digits {
  return [random(100), random(1_000_000)];
}

function renderRates(rates: Written): Record<keyof Written, string> {
  const texts = RATES.map((member) => [member, renderDigits(rates[member])]);
  return Object.fromEntries(texts) as Record<keyof Written, string>;
}

function renderDigits([whole, part]: Digits): string {
  return `${whole}.${String(part).padStart(6, '0')}`;
}

/** xorshift32, modulo the integer part of `below`: the same numbers on every run and machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % (below | 0 || 1);
  };
}
