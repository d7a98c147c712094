/** Owns sums over calls while they are made: of one record, of rolled-up rows, of one another. Reads and writes nothing. */
import { costNanoUsd } from '../../../billing/cost.ts';
import { PriceError } from '../../../billing/money.ts';
import { type Price, parsePriceVersion } from '../../../billing/price.ts';
import type { Usage } from '../../../generation/usage.ts';
import type { UsageSums } from '../../usage-port.ts';
import { outcomeOf } from './call-outcome.ts';
import { addSlotText, percentilesMs, renderDuration, type Slots } from './latency-slots.ts';

/** The counters of a row, in the order of its columns. */
export const COUNTERS = [
  'requests',
  'client_errors',
  'server_errors',
  'cancelled',
  'unpriced',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const;

/** Money is kept in two numbers, whole units of so many nano-USD and what is left: exact, and quicker than a bigint for each row. */
export const MONEY_UNIT = 1_000_000_000;

/** Counters as COUNTERS, then cost and savings, each in units and what is left. */
export type Tally = number[];

const COST_AT = COUNTERS.length;
const SAVINGS_AT = COST_AT + 2;
const TALLY_LENGTH = SAVINGS_AT + 2;
/** Before it is as much as a number can hold exactly, what is left is made units of. */
const LEFT_MAX = 2 ** 52;

export interface Histograms {
  readonly latency: Slots;
  readonly ttfb: Slots;
}

/** What of a record is summed up. */
export interface SummedRecord {
  readonly request_id: string;
  readonly at_ms: number;
  readonly account: string;
  readonly workspace: string;
  readonly key_id: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly protocol: string;
  readonly end_user: string | null;
  readonly session: string | null;
  readonly status: number;
  readonly error: string | null;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly usage_source: string;
  readonly price_version: string | null;
  /** Decimal text: beyond 2^53 a number would lose its last digits without a word. */
  readonly cost: string | null;
  readonly ttfb_ms: number | null;
  readonly duration_ms: number;
}

/** The columns of a SummedRecord. */
export const SUMMED_COLUMNS = `request_id, at_ms, call_record.account, workspace, key_id, model, provider, protocol, end_user,
  session, status, error, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, usage_source, price_version,
  cast(cost_nano_usd AS TEXT) AS cost, ttfb_ms, duration_ms`;

export function newTally(): Tally {
  return new Array<number>(TALLY_LENGTH).fill(0);
}

export function newHistograms(): Histograms {
  return { latency: new Map(), ttfb: new Map() };
}

/** What one record adds to every sum that it belongs to. */
export interface RecordShare {
  readonly counts: readonly number[];
  readonly cost: bigint;
  readonly savings: bigint;
  /** Histograms of one duration, or of none. */
  readonly latency: string;
  readonly ttfb: string;
}

export function shareOf(record: SummedRecord): RecordShare {
  const outcome = outcomeOf(record.status, record.error);
  return {
    counts: [
      1,
      outcome === 'client_error' ? 1 : 0,
      outcome === 'server_error' ? 1 : 0,
      outcome === 'cancelled' ? 1 : 0,
      record.cost === null ? 1 : 0,
      record.input,
      record.cache_read,
      record.cache_write_5m,
      record.cache_write_1h,
      record.output,
      record.reasoning,
    ],
    cost: record.cost === null ? 0n : BigInt(record.cost),
    savings: record.cache_read > 0 ? savingsOf(record) : 0n,
    latency: outcome === 'ok' ? renderDuration(record.duration_ms) : '',
    ttfb: outcome === 'ok' && record.ttfb_ms !== null ? renderDuration(record.ttfb_ms) : '',
  };
}

export function addShare(tally: Tally, { counts, cost, savings }: RecordShare): void {
  addCounts(tally, counts);
  addMoney(tally, COST_AT, cost);
  addMoney(tally, SAVINGS_AT, savings);
}

function addMoney(tally: Tally, at: number, amount: bigint): void {
  if (amount === 0n) return;
  const unit = BigInt(MONEY_UNIT);
  tally[at] = (tally[at] ?? 0) + Number(amount / unit);
  tally[at + 1] = (tally[at + 1] ?? 0) + Number(amount % unit);
  carry(tally);
}

/** Adds one list to the other, place by place. */
export function addCounts(to: number[], from: readonly number[]): void {
  for (let index = 0; index < from.length; index++) to[index] = (to[index] ?? 0) + (from[index] ?? 0);
}

export function addTally(tally: Tally, other: Tally): void {
  addCounts(tally, other);
  carry(tally);
}

export function subtractTally(tally: Tally, other: Tally): void {
  for (let index = 0; index < TALLY_LENGTH; index++) tally[index] = (tally[index] ?? 0) - (other[index] ?? 0);
  carry(tally);
}

/** Adds what a row has from `first` on: as a Tally, in the same order. */
export function addRow(tally: Tally, row: readonly (string | number)[], first: number): void {
  for (let index = 0; index < TALLY_LENGTH; index++) {
    tally[index] = (tally[index] ?? 0) + (row[first + index] as number);
  }
  carry(tally);
}

/** Adds the two histograms that stand behind a row's sums. */
export function addRowHistograms(
  { latency, ttfb }: Histograms,
  row: readonly (string | number)[],
  first: number,
): void {
  addSlotText(latency, String(row[first + TALLY_LENGTH]));
  addSlotText(ttfb, String(row[first + TALLY_LENGTH + 1]));
}

function carry(tally: Tally): void {
  for (const at of [COST_AT, SAVINGS_AT]) {
    const left = tally[at + 1] ?? 0;
    if (left < LEFT_MAX && left > -LEFT_MAX) continue;
    tally[at] = (tally[at] ?? 0) + Math.trunc(left / MONEY_UNIT);
    tally[at + 1] = left % MONEY_UNIT;
  }
}

/** What a ranking goes by. */
export interface RankedSum {
  readonly units: number;
  readonly left: number;
  readonly requests: number;
}

export function rankedOf(tally: Tally): RankedSum {
  return { units: tally[COST_AT] ?? 0, left: tally[COST_AT + 1] ?? 0, requests: tally[0] ?? 0 };
}

export function moneyOf(units: number, left: number): bigint {
  return BigInt(units) * BigInt(MONEY_UNIT) + BigInt(left);
}

export function sumsOf(tally: Tally, { latency, ttfb }: Histograms): UsageSums {
  const at = (name: (typeof COUNTERS)[number]) => tally[COUNTERS.indexOf(name)] ?? 0;
  const money = (first: number) => moneyOf(tally[first] ?? 0, tally[first + 1] ?? 0);
  const [latencyP50Ms = null, latencyP95Ms = null] = percentilesMs(latency, [0.5, 0.95]);
  const [ttfbP50Ms = null, ttfbP95Ms = null] = percentilesMs(ttfb, [0.5, 0.95]);
  return {
    requests: at('requests'),
    clientErrors: at('client_errors'),
    serverErrors: at('server_errors'),
    cancelled: at('cancelled'),
    unpriced: at('unpriced'),
    input: at('input'),
    cache_read: at('cache_read'),
    cache_write_5m: at('cache_write_5m'),
    cache_write_1h: at('cache_write_1h'),
    output: at('output'),
    reasoning: at('reasoning'),
    cost: money(COST_AT),
    cacheSavings: money(SAVINGS_AT),
    latencyP50Ms,
    latencyP95Ms,
    ttfbP50Ms,
    ttfbP95Ms,
  };
}

const PRICES_MAX = 10_000;
const prices = new Map<string, Price | null>();

/** What the call would have cost had nothing been read from a cache, less what its usage costs. Nothing where it was not charged. */
function savingsOf({ price_version, usage_source, cost, ...usage }: SummedRecord): bigint {
  if (price_version === null || cost === null || usage_source === 'void' || usage_source === 'cache') return 0n;
  const price = priceOf(price_version);
  if (price === null) return 0n;
  const uncached: Usage = { ...usageOf(usage), input: usage.input + usage.cache_read, cache_read: 0 };
  return costNanoUsd(uncached, price) - costNanoUsd(usageOf(usage), price);
}

function usageOf({ input, cache_read, cache_write_5m, cache_write_1h, output, reasoning }: Usage): Usage {
  return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
}

/** Null: the text is not one of ours, as in records kept before prices were. */
function priceOf(version: string): Price | null {
  const known = prices.get(version);
  if (known !== undefined) return known;
  if (prices.size >= PRICES_MAX) prices.clear();
  const price = parse(version);
  prices.set(version, price);
  return price;
}

function parse(version: string): Price | null {
  try {
    return parsePriceVersion(version);
  } catch (error) {
    if (error instanceof PriceError) return null;
    throw error;
  }
}
