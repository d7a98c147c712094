/** Validates the price dialog's input and builds the request body. Prices stay text and never pass through floats. */
import type { Body } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase, wholeNumber } from '../../lib/format.ts';
import { parsePrice } from '../../lib/money.ts';
import { instantOf } from '../../lib/zone.ts';
import { ALL_RATES, EXTRA_RATES, type PriceView, type RateName, type RatesView } from './model-facts.ts';
import { flatUnits, startUnits, type UnitTexts, unitErrors, unitLabel, unitsBody } from './unit-prices.ts';

type PriceBody = Body<'PUT /accounts/{account}/models/{model}/price'>;

/** As typed: US dollars per million tokens; empty: falls back to another rate. */
export type RateTexts = Readonly<Record<RateName, string>>;

/** Rates for a whole call with more than `above` input tokens. */
export interface TierForm {
  /** As typed. */
  readonly above: string;
  readonly rates: RateTexts;
}

export interface PriceForm {
  readonly isFree: boolean;
  readonly rates: RateTexts;
  readonly tiers: readonly TierForm[];
  /** As typed, by kind of tool: US dollars per 1,000 requests; empty for no fee. */
  readonly fees: Readonly<Record<string, string>>;
  /** As typed, by flat name. */
  readonly units: UnitTexts;
  /** Value of a `datetime-local` field, in the page's zone; empty: now. */
  readonly from: string;
}

/**
 * Copies the whole current price, so that untouched fields stay. `toolKinds`: kinds offered in addition to the price's
 * own.
 */
export function startForm(price: PriceView | null, toolKinds: readonly string[]): PriceForm {
  const fees = price?.per_1000_requests ?? {};
  return {
    isFree: price?.free ?? false,
    rates: startRates(price),
    tiers: (price?.tiers ?? []).map((tier) => ({ above: String(tier.above), rates: startRates(tier) })),
    fees: { ...Object.fromEntries(toolKinds.map((kind) => [kind, ''])), ...fees },
    units: startUnits(price),
    from: '',
  };
}

export function startRates(rates: RatesView | null): RateTexts {
  return Object.fromEntries(ALL_RATES.map(([rate]) => [rate, rates?.[rate] ?? ''])) as RateTexts;
}

/** Error messages by member: `input`, `tiers.0.above`, `per_1000_requests.web_search`; empty when valid. */
export function formErrors(form: PriceForm, nowMs: number, zone: string): Readonly<Record<string, string>> {
  const { isFree, rates, tiers, fees, units, from } = form;
  const errors: Record<string, string> = isFree
    ? {}
    : { ...rateErrors(rates, ''), ...tierErrors(tiers), ...unitErrors(units) };
  for (const [kind, fee] of isFree ? [] : Object.entries(fees)) {
    if (isTyped(fee) && parsePrice(fee) === null) errors[`per_1000_requests.${kind}`] = noPrice(fee);
  }
  if (from !== '' && !(Number(instantOf(from, zone)) > nowMs))
    errors.from = 'Enter a future time, or leave blank to start now.';
  return errors;
}

function rateErrors(rates: RateTexts, path: string): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const [rate] of ALL_RATES) {
    const isNeeded = rate === 'input' || rate === 'output';
    if (isTyped(rates[rate])) {
      if (parsePrice(rates[rate]) === null) errors[`${path}${rate}`] = noPrice(rates[rate]);
    } else if (isNeeded)
      errors[`${path}${rate}`] = 'Enter a price in US dollars per million tokens, such as 0.25, or choose Free.';
  }
  return errors;
}

function tierErrors(tiers: readonly TierForm[]): Record<string, string> {
  const errors: Record<string, string> = {};
  let below = 0;
  for (const [index, { above, rates }] of tiers.entries()) {
    Object.assign(errors, rateErrors(rates, `tiers.${index}.`));
    const tokens = /^\d{1,12}$/.test(above.trim()) ? Number(above) : 0;
    if (tokens <= below) {
      errors[`tiers.${index}.above`] = `“${above.trim()}” isn’t a whole number greater than ${wholeNumber(below)}.`;
    } else below = tokens;
  }
  return errors;
}

function noPrice(text: string): string {
  return `“${text.trim()}” isn’t a number with up to six decimal places, such as 0.25.`;
}

function isTyped(text: string): boolean {
  return text.trim() !== '';
}

/** One sentence for each part of the price that the form drops, with its effect, so that no fee is lost unnoticed. */
export function losses(price: PriceView | null, { isFree, rates, tiers, fees, units }: PriceForm): readonly string[] {
  if (price === null || isFree) return [];
  const bounds = new Set(tiers.map(({ above }) => Number(above)));
  return [
    ...EXTRA_RATES.filter(([rate]) => price[rate] !== undefined && !isTyped(rates[rate])).map(
      ([rate, word]) =>
        `${word} will no longer have its own rate and will be billed at the ${rate === 'cache_write_30m' ? '5-minute cache write' : 'input or output'} rate.`,
    ),
    ...(price.tiers ?? [])
      .filter(({ above }) => !bounds.has(above))
      .map(
        ({ above }) =>
          `Requests with more than ${wholeNumber(above)} input tokens will no longer have their own rates.`,
      ),
    ...Object.keys(price.per_1000_requests ?? {})
      .filter((kind) => !isTyped(fees[kind] ?? ''))
      .map(
        (kind) =>
          `${sentenceCase(kind)} will no longer have a fee, and its requests won’t be billed. For a free tool, enter 0.`,
      ),
    ...Object.keys(flatUnits(price))
      .filter((name) => !isTyped(units[name] ?? ''))
      .map((name) => `${unitLabel(name)} will no longer have a price per unit, and its units won’t be billed.`),
  ];
}

export function priceBody({ isFree, rates, tiers, fees, units, from }: PriceForm, zone: string): PriceBody {
  const common = { from: instantOf(from, zone)?.toISOString() ?? null, free: isFree };
  if (isFree) return { ...common, ...ratesBody(startRates(null)) };
  const given = Object.entries(fees).filter(([, fee]) => isTyped(fee));
  const per_unit = unitsBody(units);
  return {
    ...common,
    ...ratesBody(rates),
    ...(tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ above: Number(tier.above), ...ratesBody(tier.rates) })) }),
    ...(given.length === 0
      ? {}
      : { per_1000_requests: Object.fromEntries(given.map(([kind, fee]) => [kind, fee.trim()])) }),
    ...(per_unit === undefined ? {} : { per_unit }),
  };
}

function ratesBody(rates: RateTexts) {
  const rate = (name: RateName) => (isTyped(rates[name]) ? rates[name].trim() : null);
  const extras = EXTRA_RATES.filter(([name]) => isTyped(rates[name])).map(([name]) => [name, rates[name].trim()]);
  return {
    input: rate('input'),
    output: rate('output'),
    cache_read: rate('cache_read'),
    cache_write_5m: rate('cache_write_5m'),
    cache_write_1h: rate('cache_write_1h'),
    reasoning: rate('reasoning'),
    ...Object.fromEntries(extras),
  };
}
