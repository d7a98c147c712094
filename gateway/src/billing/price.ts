/**
 * Defines the price of one model: its rates per token, long-context tiers, fees per request, an account's mark-up, and
 * the version text that records keep. Renders and parses version texts.
 */
import {
  EXTRA_COUNTERS,
  EXTRA_PARTS,
  type ExtraCounter,
  type MediaAndToolUsage,
  type TierMember,
  TOOL_KIND,
} from '../generation/usage.ts';
import {
  formatUsdPerMillion,
  formatUsdPerThousand,
  type NanoUsd,
  type PicoUsdPerToken,
  PriceError,
  parseUsdPerMillion,
  parseUsdPerThousand,
} from './money.ts';
import { isUnitStep, NO_UNITS, parseUnitSteps, renderUnitSteps, type UnitPrices } from './unit-prices.ts';

/** Nano-USD per request, by kind; 0 is a price, a missing kind has none. Sorted by the names of the kinds. */
export type Fees = ReadonlyMap<string, NanoUsd>;

export const NO_FEES: Fees = new Map();

/** A fee per kind as configured: USD per 1,000 requests. */
export type WrittenFees = { readonly [kind: string]: string | number | undefined };

/**
 * For hosts that search with every response, each call has one of these classes. Perplexity,
 * https://docs.perplexity.ai/getting-started/pricing (read 2025).
 */
const CLASSES_OF_A_CALL = ['search_low', 'search_medium', 'search_high'] as const;

/** Kinds with known fees; hosts may count others. */
export const KNOWN_KINDS: readonly string[] = ['web_search', 'web_fetch', ...CLASSES_OF_A_CALL];

const FEE = /^([^=]+)=([^/]+)\/1000$/;

/** @throws PriceError naming the kind that is not a tool name, or whose fee is not a usable number. */
export function parseFees(written: WrittenFees): Fees {
  const fees = Object.entries(written).map(([kind, fee]) => {
    if (!TOOL_KIND.test(kind)) {
      throw new PriceError(JSON.stringify(kind), 'no name of a tool', 'lower-case letters, digits and _: web_search');
    }
    return [kind, parseUsdPerThousand(fee ?? '', kind)] as const;
  });
  return new Map(fees.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `;web_search=10/1000` for each fee: USD per 1,000 requests. */
export function renderFees(fees: Fees): string {
  return [...fees].map(([kind, fee]) => `;${kind}=${formatUsdPerThousand(fee)}/1000`).join('');
}

/** Parses the fee steps of a version text; null where a step is not a fee. @throws PriceError */
function parseFeeSteps(steps: readonly string[]): Fees | null {
  const written: Record<string, string> = {};
  for (const step of steps) {
    const [, kind = '', fee = ''] = FEE.exec(step) ?? [];
    if (!TOOL_KIND.test(kind) || Object.hasOwn(written, kind)) return null;
    written[kind] = fee;
  }
  return parseFees(written);
}

/** The kinds of tools that were used without a fee in the price, sorted: they are not billed. */
export function unpricedTools(extras: MediaAndToolUsage | undefined, fees: Fees | null): readonly string[] {
  if (extras?.server_tools === undefined || fees === null) return [];
  return Object.keys(extras.server_tools)
    .filter((kind) => !fees.has(kind))
    .sort();
}

/**
 * The maximum charge for a call's requests: the declared number for each tool, plus the class fee, which applies
 * whatever the call declares.
 */
export function mostFees(fees: Fees, declared: ReadonlyMap<string, number> | undefined): NanoUsd {
  let declaredNanoUsd = 0n;
  for (const [kind, requests] of declared ?? []) declaredNanoUsd += (fees.get(kind) ?? 0n) * BigInt(requests);
  let most = 0n;
  for (const kind of CLASSES_OF_A_CALL) {
    const fee = fees.get(kind) ?? 0n;
    if (fee > most) most = fee;
  }
  return declaredNanoUsd + most;
}

/** The members that every price has, in the order of the version text. */
export const PRICE_MEMBERS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const;

export type PriceMember = (typeof PRICE_MEMBERS)[number] | ExtraCounter;

/** The price of one token of each kind, all members filled. */
export type Rates = Readonly<Record<PriceMember, PicoUsdPerToken>>;

/** Rates as published: only `input` and `output` are required. */
export type PublishedPrice = { readonly [Member in PriceMember]?: PicoUsdPerToken | undefined } & {
  readonly input: PicoUsdPerToken;
  readonly output: PicoUsdPerToken;
};

/**
 * Fills missing rates, so that nothing is billed 0 by omission: cache reads and writes cost as input, cache writes for 30
 * minutes and for an hour as the 5-minute one where given, reasoning as output, audio and images as the counter they are
 * part of. Cached audio costs as cache reads, or where that is not given, as audio.
 */
function fillRates(published: PublishedPrice): Rates {
  const { input, output, cache_write_5m } = published;
  const audio_input = published.audio_input ?? input;
  return {
    input,
    cache_read: published.cache_read ?? input,
    cache_write_5m: cache_write_5m ?? input,
    cache_write_1h: published.cache_write_1h ?? cache_write_5m ?? input,
    output,
    reasoning: published.reasoning ?? output,
    audio_input,
    audio_cache_read: published.audio_cache_read ?? published.cache_read ?? audio_input,
    audio_output: published.audio_output ?? output,
    image_input: published.image_input ?? input,
    image_output: published.image_output ?? output,
    cache_write_30m: published.cache_write_30m ?? cache_write_5m ?? input,
  };
}

/**
 * Six rates joined by `_`, then `,audio_input=40` for each part (`EXTRA_PARTS`) whose rate differs from its whole.
 */
function renderRates(rates: Rates): string {
  const six = PRICE_MEMBERS.map((member) => formatUsdPerMillion(rates[member])).join('_');
  const extras = EXTRA_COUNTERS.filter((counter) => rates[counter] !== rates[EXTRA_PARTS[counter]]);
  return six + extras.map((counter) => `,${counter}=${formatUsdPerMillion(rates[counter])}`).join('');
}

/**
 * Parses the rates that `renderRates` wrote. `where` begins the message about an unreadable number.
 * @throws PriceError there; null for a text of another form.
 */
function parseRates(text: string, where: string): Rates | null {
  const [six = '', ...extras] = text.split(',');
  const numbers = six.split('_');
  if (numbers.length !== PRICE_MEMBERS.length) return null;
  const rates = new Map<string, PicoUsdPerToken>();
  for (const [index, member] of PRICE_MEMBERS.entries()) {
    rates.set(member, parseUsdPerMillion(numbers[index] ?? '', `${where}: ${member}`));
  }
  for (const written of extras) {
    const [member = '', number = '', ...more] = written.split('=');
    if (more.length > 0 || rates.has(member) || !Object.hasOwn(EXTRA_PARTS, member)) return null;
    rates.set(member, parseUsdPerMillion(number, `${where}: ${member}`));
  }
  const given = Object.fromEntries(rates) as Partial<Rates> & Pick<Rates, 'input' | 'output'>;
  return fillRates(given);
}

/** Rates for a whole call whose input, cache reads and writes included, exceeds `inputTokensAbove`. */
export interface PriceTier {
  readonly inputTokensAbove: number;
  readonly rates: Rates;
}

/**
 * In a tier of that word every rate per token is multiplied by `times`, a fraction; modifiers of different members
 * multiply.
 */
export interface PriceModifier {
  readonly member: TierMember;
  readonly word: string;
  readonly times: readonly [numerator: bigint, denominator: bigint];
}

/** A price in force. Its own rates apply to calls that no tier covers. */
export interface Price extends Rates {
  /** Ascending; empty: one price for all lengths. */
  readonly tiers: readonly PriceTier[];
  /** For tools that run upstream; null: they are free. */
  readonly fees: Fees | null;
  /** Prices per unit; absent: none, so that only tokens and requests are billed. */
  readonly units?: UnitPrices;
  /** How the price changes with the tier that answers; absent: no other tier has a known price. */
  readonly modifiers?: readonly PriceModifier[];
  /** Parts per million on top of the exact sum; below 0 for a discount. */
  readonly markUpPpm: bigint;
  /**
   * The origin of the price and, after the last `@`, all of its numbers: `parsePriceVersion` can recompute a record
   * from this text after every price list, configuration and account has changed.
   */
  readonly version: string;
}

export type PublishedTier = PublishedPrice & { readonly inputTokensAbove: number };

/** A 100% discount. */
export const MARK_UP_PPM_MIN = -1_000_000;
/**
 * Ten thousand percent. At the highest price this keeps ten million tokens of a call within the ledger's 64-bit
 * nano-USD.
 */
export const MARK_UP_PPM_MAX = 100_000_000;

const FREE_ORIGIN = 'free';

/** The meaning of the word `free` in a configuration. */
export const FREE_PRICE: Price = fillPrice({ input: 0n, output: 0n }, FREE_ORIGIN);

/**
 * The price with missing rates filled (`fillRates`); a tier is filled from itself, never from the price below it. A
 * missing fee stays missing: it has no default. `origin` begins the version text.
 * @throws PriceError where the tiers do not ascend.
 */
export function fillPrice(
  published: PublishedPrice,
  origin: string,
  tiers: readonly PublishedTier[] = [],
  fees: Fees = NO_FEES,
  units: UnitPrices = NO_UNITS,
): Price {
  const rates = fillRates(published);
  const filled = tiers.map((tier) => ({ inputTokensAbove: tier.inputTokensAbove, rates: fillRates(tier) }));
  checkAscent(filled, 'tiers');
  const steps = filled.map((tier) => `;>${tier.inputTokensAbove}=${renderRates(tier.rates)}`).join('');
  return {
    ...rates,
    tiers: filled,
    fees: origin === FREE_ORIGIN ? null : fees,
    ...(units.size === 0 ? {} : { units }),
    markUpPpm: 0n,
    version: `${origin}@${renderRates(rates)}${steps}${renderFees(fees)}${renderUnitSteps(units)}`,
  };
}

/**
 * The price for an account with a mark-up (`ppm` > 0) or a discount (< 0), in parts per million.
 * @throws RangeError where `ppm` is not an integer from MARK_UP_PPM_MIN to MARK_UP_PPM_MAX, or the price has a mark-up
 * already.
 */
export function withMarkUp(price: Price, ppm: number): Price {
  if (ppm === 0) return price;
  if (!isMarkUp(ppm)) {
    throw new RangeError(
      `mark-up: found ${ppm} ppm, expected a whole number from ${MARK_UP_PPM_MIN} to ${MARK_UP_PPM_MAX}`,
    );
  }
  if (price.markUpPpm !== 0n) throw new RangeError(`mark-up: ${price.version} has one already, expected a list price`);
  return { ...price, markUpPpm: BigInt(ppm), version: `${price.version};${ppm > 0 ? '+' : ''}${ppm}ppm` };
}

/** The rates of a whole call with this many input tokens, cache reads and writes included. */
export function chooseRates(price: Price, inputTokens: number): Rates {
  let rates: Rates = price;
  for (const tier of price.tiers) if (inputTokens > tier.inputTokensAbove) rates = tier.rates;
  return rates;
}

/**
 * Parses a record's `price_version`: `<origin>@<rates>`, then `;>200000=<rates>` for each tier, then
 * `;web_search=10/1000` for each fee, then `;second=0.0001/1` for each unit, then `;+50000ppm` where the account had a mark-up.
 * @throws PriceError where neither `fillPrice` nor `withMarkUp` made the text.
 */
export function parsePriceVersion(version: string): Price {
  const at = version.lastIndexOf('@');
  const [base = '', ...steps] = version.slice(at + 1).split(';');
  const markUp = /^([+-][1-9][0-9]{0,8})ppm$/.exec(steps.at(-1) ?? '')?.[1];
  if (at < 1 || (markUp !== undefined && !isMarkUp(Number.parseInt(markUp, 10)))) refuseVersion(version);
  if (markUp !== undefined) steps.pop();
  const firstUnit = steps.findIndex(isUnitStep);
  const units = parseUnitSteps(firstUnit === -1 ? [] : steps.splice(firstUnit)) ?? refuseVersion(version);
  const firstFee = steps.findIndex((step) => !step.startsWith('>'));
  const feeSteps = firstFee === -1 ? [] : steps.splice(firstFee);
  const tiers = steps.map((step) => {
    const [, above = '', rates = ''] = /^>([1-9][0-9]{0,15})=(.*)$/.exec(step) ?? refuseVersion(version);
    return { inputTokensAbove: Number.parseInt(above, 10), rates: readRates(rates, version) };
  });
  checkAscent(tiers, `price_version ${version}`);
  const fees = parseFeeSteps(feeSteps) ?? refuseVersion(version);
  const isFree = version.slice(0, at) === FREE_ORIGIN;
  return {
    ...readRates(base, version),
    tiers,
    fees: isFree ? null : fees,
    ...(units.size === 0 ? {} : { units }),
    markUpPpm: BigInt(markUp ?? 0),
    version,
  };
}

/** As `parsePriceVersion`, but null for an unknown text, as in records from before versions had numbers. */
export function readPriceVersion(version: string): Price | null {
  try {
    return parsePriceVersion(version);
  } catch (error) {
    if (error instanceof PriceError) return null;
    throw error;
  }
}

function readRates(text: string, version: string): Rates {
  return parseRates(text, `price_version ${version}`) ?? refuseVersion(version);
}

function isMarkUp(ppm: number): boolean {
  return Number.isSafeInteger(ppm) && ppm >= MARK_UP_PPM_MIN && ppm <= MARK_UP_PPM_MAX;
}

function checkAscent(tiers: readonly PriceTier[], member: string): void {
  let below = 0;
  for (const { inputTokensAbove } of tiers) {
    if (!Number.isSafeInteger(inputTokensAbove) || inputTokensAbove <= below) {
      throw new PriceError(member, `a tier above ${inputTokensAbove}`, `a whole number over ${below}: tiers ascend`);
    }
    below = inputTokensAbove;
  }
}

function refuseVersion(version: string): never {
  const expected =
    'an origin, @, and six prices joined by _, with ,audio_input=PRICE and the like; then ;>TOKENS= with such prices for each tier, ;TOOL=USD/1000 for each fee, ;UNIT=USD/1 for each unit, and ;+PPMppm';
  throw new PriceError('price_version', JSON.stringify(version), expected);
}
