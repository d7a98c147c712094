/**
 * Computes how much money a call holds before it runs, how much more while it streams, and how the hold is split at its
 * end. Source: money design, "Holds that do not starve agents".
 */
import type { RequestExtras } from '../protocols/request/request-facts.ts';
import type { HoldMode } from '../store/ports/records.ts';
import type { NanoUsd } from './money.ts';
import { mostFees, type Price, type PriceMember, type Rates } from './price.ts';
import { ceilNanoUsd } from './price-book.ts';
import { unitPicoUsd } from './unit-prices.ts';

/** Input to the choice of a hold. Tokens are integers ≥ 0. */
export interface HoldRequest {
  readonly mode: HoldMode;
  /** Whether the upstream response is a stream, so that it can be metered and stopped. */
  readonly stream: boolean;
  /** Our estimate of the prompt's tokens. */
  readonly inputTokens: number;
  /** The caller's `max_tokens`, else the model's output limit; null: unknown. */
  readonly outputTokensMax: number | null;
  /** Includes the account's mark-up; the most expensive of the route's targets. */
  readonly price: Price;
  /** Absent for text-only calls. */
  readonly extras?: RequestExtras | undefined;
}

export interface HoldSlice {
  /** For a first slice the hold, for a later one the amount added. */
  readonly amount: NanoUsd;
  /** Output tokens covered so far, all slices together. */
  readonly outputTokens: number;
  /** Output tokens at which the next slice is due (`nextSlice`); null: the hold covers everything. */
  readonly extendAtTokens: number | null;
}

/** Output tokens per slice. */
export const SLICE_TOKENS = 2048;
/** The next slice is requested when a quarter of the slice is left. */
const SLICE_REST_TOKENS = SLICE_TOKENS / 4;

/** Assumed maximum output where neither the caller nor the catalogue bounds it. */
export const OUTPUT_TOKENS_ASSUMED = 131_072;

/**
 * Upper bound of any response, whatever `max_tokens` says: four times the highest output limit in the catalogue (2026).
 * Keeps an absurd `max_tokens` from holding more than the ledger's 64 bits can add up.
 */
export const OUTPUT_TOKENS_MAX = 4_194_304;

/**
 * The hold of a call: its input (the estimate may be up to 15% too low) at the highest input price; a first slice of
 * output for an adaptive stream, otherwise the maximum output; the fees of the tools that it declares; and the units that it asks for. Where the
 * caps do not cover the maximum of a non-streaming call, call again with `stream: true` for its hold as a stream that
 * is folded.
 * @throws RangeError where a number of tokens is not an integer ≥ 0.
 */
export function chooseHold(holdRequest: HoldRequest): HoldSlice {
  const { price } = holdRequest;
  const worst = worstOutput(holdRequest);
  const outputTokens = isSliced(holdRequest) && worst > SLICE_TOKENS ? SLICE_TOKENS : worst;
  const { input, output } = dearestRates(holdRequest);
  const picoUsd = heldInput(holdRequest) * input + BigInt(outputTokens) * output + heldFees(holdRequest);
  const extendAtTokens = extensionDue(holdRequest, outputTokens, worst);
  return { amount: ceilNanoUsd(picoUsd, price), outputTokens, extendAtTokens };
}

/**
 * The room that the caps must have left to hold a stream with hidden reasoning slice by slice: two first slices, so
 * that usage reported at the end beyond one slice can still be held. Null: the first hold already covers all of it.
 */
export function roomToMeter(holdRequest: HoldRequest, first: HoldSlice): NanoUsd | null {
  return isSliced(holdRequest) && first.outputTokens < worstOutput(holdRequest) ? 2n * first.amount : null;
}

/**
 * What a stream must additionally hold after `producedTokens` of output, with `coveredTokens` held; null: nothing yet.
 * A burst gets as many slices as it needs to stay ahead. An upstream that exceeds the caller's `max_tokens` by more
 * than the error of our count (a quarter) is held for as well, even with strict holds.
 */
export function nextSlice(holdRequest: HoldRequest, coveredTokens: number, producedTokens: number): HoldSlice | null {
  if (!holdRequest.stream || producedTokens < coveredTokens - SLICE_REST_TOKENS) return null;
  const asked = worstOutput(holdRequest);
  const worst = producedTokens * 4 > asked * 5 ? OUTPUT_TOKENS_MAX : asked;
  if (coveredTokens >= worst) return null;
  const behind = checkTokens(producedTokens, 'producedTokens') + SLICE_REST_TOKENS - coveredTokens;
  const ahead = coveredTokens + behind - (behind % SLICE_TOKENS) + SLICE_TOKENS;
  const outputTokens = ahead < worst ? ahead : worst;
  const picoUsd = BigInt(outputTokens - coveredTokens) * dearestRates(holdRequest).output;
  const extendAtTokens = extensionDue(holdRequest, outputTokens, worst);
  return { amount: ceilNanoUsd(picoUsd, holdRequest.price), outputTokens, extendAtTokens };
}

/**
 * What a call with `coveredTokens` held must additionally hold before it runs unmetered at an upstream that may produce
 * up to `outputTokensMax`; null: unknown.
 */
export function holdUnmetered(
  holdRequest: HoldRequest,
  coveredTokens: number,
  outputTokensMax: number | null,
): HoldSlice {
  const worst = Math.max(coveredTokens, worstOutput({ ...holdRequest, outputTokensMax }));
  const picoUsd = BigInt(worst - coveredTokens) * dearestRates(holdRequest).output;
  return { amount: ceilNanoUsd(picoUsd, holdRequest.price), outputTokens: worst, extendAtTokens: null };
}

/** Whether output has a price, so that output beyond the hold is a loss. */
export function costsOutput(price: Price): boolean {
  return MEDIA_OUTPUT.highestIn(price) > 0n || price.tiers.some(({ rates }) => MEDIA_OUTPUT.highestIn(rates) > 0n);
}

function isSliced({ mode, stream }: HoldRequest): boolean {
  return stream && mode === 'adaptive';
}

/** The last slice has a threshold too: an upstream may exceed the requested maximum. */
function extensionDue({ stream }: HoldRequest, outputTokens: number, worst: number): HoldSlice['extendAtTokens'] {
  if (!stream) return null;
  if (outputTokens < worst) return outputTokens - SLICE_REST_TOKENS;
  return worst === OUTPUT_TOKENS_MAX ? null : worst + (worst - (worst % 4)) / 4 + 1;
}

function worstOutput({ outputTokensMax }: HoldRequest): number {
  const asked = checkTokens(outputTokensMax ?? OUTPUT_TOKENS_ASSUMED, 'outputTokensMax');
  return asked < OUTPUT_TOKENS_MAX ? asked : OUTPUT_TOKENS_MAX;
}

/** The estimate × 1.15, rounded up. */
function heldInput({ inputTokens }: HoldRequest): bigint {
  const hundredfold = checkTokens(inputTokens, 'inputTokens') * 115 + 99;
  // Arithmetic of big integers costs many times more, on every call.
  if (Number.isSafeInteger(hundredfold)) return BigInt((hundredfold - (hundredfold % 100)) / 100);
  return (BigInt(inputTokens) * 115n + 99n) / 100n;
}

/** In pico-USD. Tool requests and units beyond this are held for at settlement, as far as the caps allow. */
function heldFees({ price: { fees, units }, extras }: HoldRequest): bigint {
  const perUnit = units === undefined || extras?.units === undefined ? 0n : unitPicoUsd(extras.units, units);
  return fees === null || fees.size === 0 ? perUnit : perUnit + mostFees(fees, extras?.toolRequests) * 1000n;
}

/** Members of a price, and the highest rate among them of each price that was asked for: prices stay, calls come and go. */
class RateGroup {
  readonly members: readonly PriceMember[];
  readonly #highest = new WeakMap<Rates, bigint>();

  constructor(...members: PriceMember[]) {
    this.members = members;
  }

  highestIn(rates: Rates): bigint {
    const known = this.#highest.get(rates);
    if (known !== undefined) return known;
    let highest = 0n;
    for (const member of this.members) if (rates[member] > highest) highest = rates[member];
    this.#highest.set(rates, highest);
    return highest;
  }
}

const TEXT_INPUT = new RateGroup('input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'cache_write_30m');
const MEDIA_INPUT = new RateGroup(...TEXT_INPUT.members, 'audio_input', 'audio_cache_read', 'image_input');
const TEXT_OUTPUT = new RateGroup('output', 'reasoning');
const MEDIA_OUTPUT = new RateGroup(...TEXT_OUTPUT.members, 'audio_output', 'image_output');

/** The highest prices of an input and an output token, in any tier that the held input reaches. */
function dearestRates(holdRequest: HoldRequest): { input: bigint; output: bigint } {
  const { price, extras } = holdRequest;
  const inputs = extras?.mediaInput ? MEDIA_INPUT : TEXT_INPUT;
  const outputs = extras?.mediaOutput ? MEDIA_OUTPUT : TEXT_OUTPUT;
  let input = inputs.highestIn(price);
  let output = outputs.highestIn(price);
  const held = price.tiers.length === 0 ? 0n : heldInput(holdRequest);
  for (const { inputTokensAbove, rates } of price.tiers) {
    if (held <= BigInt(inputTokensAbove)) continue;
    const [dearerInput, dearerOutput] = [inputs.highestIn(rates), outputs.highestIn(rates)];
    if (dearerInput > input) input = dearerInput;
    if (dearerOutput > output) output = dearerOutput;
  }
  return { input, output };
}

function checkTokens(count: number, name: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new RangeError(`hold ${name}: found ${count}, expected a whole number of tokens, 0 or more`);
}

interface EndedHold {
  /** Total held, extensions included. ≥ 0. */
  readonly held: NanoUsd;
  /** Cost of the usage. ≥ 0. */
  readonly cost: NanoUsd;
  /** The most that the call's caps allow the hold to grow; null: uncapped. */
  readonly extensible: NanoUsd | null;
}

/** `posted + absorbed` is the cost, `posted + released` is the hold with its last extension; no amount is below 0. */
interface HoldSplit {
  /** How much the hold must grow before `posted` can be posted. */
  readonly extension: NanoUsd;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly writtenOff: NanoUsd;
}

/** The split where the operator pays the whole cost: nothing of the hold is posted. Amounts ≥ 0. */
export function splitCost(held: NanoUsd, cost: NanoUsd): HoldSplit {
  return { extension: 0n, posted: 0n, released: held, writtenOff: cost };
}

/** The part of the cost that exceeds the hold: the extension to request from the caps. */
export function missingFromHold(held: NanoUsd, cost: NanoUsd): NanoUsd {
  return cost > held ? cost - held : 0n;
}

/**
 * Splits a hold at the end of its call.
 * @throws RangeError where an amount is below 0.
 */
export function settleHold({ held, cost, extensible }: EndedHold): HoldSplit {
  if (held < 0n || cost < 0n || (extensible ?? 0n) < 0n) {
    throw new RangeError(`hold ${held}, cost ${cost}, extensible ${extensible}: expected amounts of 0 or more`);
  }
  const missing = missingFromHold(held, cost);
  const extension = extensible === null || extensible > missing ? missing : extensible;
  const posted = cost - missing + extension;
  return { extension, posted, released: held + extension - posted, writtenOff: missing - extension };
}
