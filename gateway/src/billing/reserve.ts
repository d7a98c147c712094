/**
 * Owns how much money a call holds before it runs, and how much more while it streams. Pure arithmetic: knows no caps, no
 * balance and no stream. Source: money design, "Holds that do not starve agents".
 */
import type { RequestApart } from '../protocols/request/request-facts.ts';
import type { HoldMode } from '../store/ports/records.ts';
import { ceilNanoUsd } from './cost.ts';
import type { NanoUsd } from './money.ts';
import { mostFees, type Price, type PriceMember, type Rates } from './price.ts';

/** What is known of a call when its hold is chosen. Tokens are integers ≥ 0. */
export interface HoldWish {
  readonly mode: HoldMode;
  /** Whether the upstream's answer comes as a stream, so that it can be metered and stopped. */
  readonly stream: boolean;
  /** Our estimate of the prompt. */
  readonly inputTokens: number;
  /** The caller's `max_tokens`, else the most that the model can produce; null: nobody knows. */
  readonly outputTokensMax: number | null;
  /** With the account's mark-up; the dearest of the route's targets. */
  readonly price: Price;
  /** Absent for a call of nothing but text. */
  readonly apart?: RequestApart | undefined;
}

export interface HoldSlice {
  /** What is to be held: of a first slice the hold, of a later one what it adds. */
  readonly amount: NanoUsd;
  /** Output tokens that are covered from now on, all slices together. */
  readonly outputTokens: number;
  /** With so many output tokens the next slice is due (`nextSlice`); null: everything that may come is covered. */
  readonly extendAtTokens: number | null;
}

/** Output tokens of a slice. */
export const SLICE_TOKENS = 2048;
/** A quarter of the slice is left when the next one is asked for. */
const SLICE_REST_TOKENS = SLICE_TOKENS / 4;

/** The worst case of an answer where neither the caller nor the catalogue bounds it. */
export const OUTPUT_TOKENS_ASSUMED = 131_072;

/**
 * No answer is longer, whatever `max_tokens` says: four times the most that any model of the catalogue produces (2026). It
 * keeps a caller's absurd number from holding more than the ledger's 64 bits can add up.
 */
export const OUTPUT_TOKENS_MAX = 4_194_304;

/**
 * What the call holds: its input, estimated too low by 15 % at most, at the dearest price of input; and of output a first
 * slice (an adaptive stream) or the worst case (else); and the fees of the tools that it declares. Where a plain call's caps do not cover its worst case, ask again
 * with `stream: true` for what it holds as a stream that is folded.
 * @throws RangeError where a number of tokens is no integer ≥ 0.
 */
export function chooseHold(wish: HoldWish): HoldSlice {
  const { price } = wish;
  const worst = worstOutput(wish);
  const outputTokens = isSliced(wish) && worst > SLICE_TOKENS ? SLICE_TOKENS : worst;
  const { input, output } = dearestRates(wish);
  const picoUsd = heldInput(wish) * input + BigInt(outputTokens) * output + heldFees(wish);
  return { amount: ceilNanoUsd(picoUsd, price), ...coverage(wish, outputTokens, worst) };
}

/**
 * What the caps must have left for a stream whose reasoning does not show to be held slice by slice: two first slices, since
 * what its end tells beyond one can then still be held. Null: its first hold covers all of it anyway.
 */
export function roomToMeter(wish: HoldWish, first: HoldSlice): NanoUsd | null {
  return isSliced(wish) && first.outputTokens < worstOutput(wish) ? 2n * first.amount : null;
}

/**
 * What a stream must hold on top when `producedTokens` of output have come and `coveredTokens` are held; null: nothing yet.
 * A burst gets as many slices as it takes to be ahead of it. An upstream that goes on past the caller's `max_tokens` (by
 * more than our count may be wrong: a quarter) is held for as well, under strict holds too.
 */
export function nextSlice(wish: HoldWish, coveredTokens: number, producedTokens: number): HoldSlice | null {
  if (!wish.stream || producedTokens < coveredTokens - SLICE_REST_TOKENS) return null;
  const asked = worstOutput(wish);
  const worst = producedTokens * 4 > asked * 5 ? OUTPUT_TOKENS_MAX : asked;
  if (coveredTokens >= worst) return null;
  const behind = checkTokens(producedTokens, 'producedTokens') + SLICE_REST_TOKENS - coveredTokens;
  const ahead = coveredTokens + behind - (behind % SLICE_TOKENS) + SLICE_TOKENS;
  const outputTokens = ahead < worst ? ahead : worst;
  const picoUsd = BigInt(outputTokens - coveredTokens) * dearestRates(wish).output;
  return { amount: ceilNanoUsd(picoUsd, wish.price), ...coverage(wish, outputTokens, worst) };
}

/**
 * What a call must hold on top, of which `coveredTokens` are held, before it runs unmetered at an upstream that may go on to
 * `outputTokensMax`; null: nobody knows how far.
 */
export function holdUnmetered(wish: HoldWish, coveredTokens: number, outputTokensMax: number | null): HoldSlice {
  const worst = Math.max(coveredTokens, worstOutput({ ...wish, outputTokensMax }));
  const picoUsd = BigInt(worst - coveredTokens) * dearestRates(wish).output;
  return { amount: ceilNanoUsd(picoUsd, wish.price), outputTokens: worst, extendAtTokens: null };
}

/** Whether output costs anything, so that more of it than was held for is somebody's loss. */
export function costsOutput(price: Price): boolean {
  if (hasOutputRate(price)) return true;
  return price.tiers.some(({ rates }) => hasOutputRate(rates));
}

function hasOutputRate(rates: Rates): boolean {
  return MEDIA_OUTPUT.some((member) => rates[member] > 0n);
}

function isSliced({ mode, stream }: HoldWish): boolean {
  return stream && mode === 'adaptive';
}

/** The last slice has a threshold too: an upstream may go on past what was asked of it. */
function coverage(wish: HoldWish, outputTokens: number, worst: number): Omit<HoldSlice, 'amount'> {
  if (!wish.stream) return { outputTokens, extendAtTokens: null };
  if (outputTokens < worst) return { outputTokens, extendAtTokens: outputTokens - SLICE_REST_TOKENS };
  return { outputTokens, extendAtTokens: worst === OUTPUT_TOKENS_MAX ? null : worst + (worst - (worst % 4)) / 4 + 1 };
}

function worstOutput({ outputTokensMax }: HoldWish): number {
  const asked = checkTokens(outputTokensMax ?? OUTPUT_TOKENS_ASSUMED, 'outputTokensMax');
  return asked < OUTPUT_TOKENS_MAX ? asked : OUTPUT_TOKENS_MAX;
}

/** The estimate × 1.15, rounded up. */
function heldInput({ inputTokens }: HoldWish): bigint {
  return (BigInt(checkTokens(inputTokens, 'inputTokens')) * 115n + 99n) / 100n;
}

/** In pico-USD. What runs upstream beyond it is held for at the settlement, as far as the caps allow. */
function heldFees({ price: { fees }, apart }: HoldWish): bigint {
  return fees === null || fees.size === 0 ? 0n : mostFees(fees, apart?.toolRequests) * 1000n;
}

const TEXT_INPUT: readonly PriceMember[] = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h'];
const MEDIA_INPUT: readonly PriceMember[] = [...TEXT_INPUT, 'audio_input', 'audio_cache_read', 'image_input'];
const TEXT_OUTPUT: readonly PriceMember[] = ['output', 'reasoning'];
const MEDIA_OUTPUT: readonly PriceMember[] = [...TEXT_OUTPUT, 'audio_output', 'image_output'];

/** The dearest that a token of input and one of output can cost, in any tier that the held input reaches. */
function dearestRates(wish: HoldWish): { input: bigint; output: bigint } {
  const { price, apart } = wish;
  const inputs = apart?.mediaInput ? MEDIA_INPUT : TEXT_INPUT;
  const outputs = apart?.mediaOutput ? MEDIA_OUTPUT : TEXT_OUTPUT;
  const reached: Rates[] = [price];
  const held = price.tiers.length === 0 ? 0n : heldInput(wish);
  for (const tier of price.tiers) if (held > BigInt(tier.inputTokensAbove)) reached.push(tier.rates);
  let input = 0n;
  let output = 0n;
  for (const rates of reached) {
    for (const member of inputs) if (rates[member] > input) input = rates[member];
    for (const member of outputs) if (rates[member] > output) output = rates[member];
  }
  return { input, output };
}

function checkTokens(count: number, name: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new RangeError(`hold ${name}: found ${count}, expected a whole number of tokens, 0 or more`);
}

interface EndedHold {
  /** All that is held, extensions included. ≥ 0. */
  readonly held: NanoUsd;
  /** What the usage costs. ≥ 0. */
  readonly cost: NanoUsd;
  /** The most by which the caps of the call allow the hold to grow; null: nothing caps it. */
  readonly extensible: NanoUsd | null;
}

/** `posted + absorbed` is the cost, `posted + released` is the hold with its last extension; none is below 0. */
interface HoldSplit {
  /** By how much the hold must grow before `posted` can be posted. */
  readonly extension: NanoUsd;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly absorbed: NanoUsd;
}

/** The split where the operator bears the whole cost: nothing of the hold is posted. Amounts ≥ 0. */
export function bearCost(held: NanoUsd, cost: NanoUsd): HoldSplit {
  return { extension: 0n, posted: 0n, released: held, absorbed: cost };
}

/** By how much the cost exceeds the hold: what to ask the caps for. */
export function missingFromHold(held: NanoUsd, cost: NanoUsd): NanoUsd {
  return cost > held ? cost - held : 0n;
}

/**
 * The split of a hold at the end of its call.
 * @throws RangeError where an amount is below 0.
 */
export function settleHold({ held, cost, extensible }: EndedHold): HoldSplit {
  if (held < 0n || cost < 0n || (extensible ?? 0n) < 0n) {
    throw new RangeError(`hold ${held}, cost ${cost}, extensible ${extensible}: expected amounts of 0 or more`);
  }
  const missing = missingFromHold(held, cost);
  const extension = extensible === null || extensible > missing ? missing : extensible;
  const posted = cost - missing + extension;
  return { extension, posted, released: held + extension - posted, absorbed: missing - extension };
}
