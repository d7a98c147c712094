/** Adds up sums over calls: of single records, of rolled-up rows, and of other sums. Does no I/O. */
import { type Price, readPriceVersion } from '../../../billing/price.ts';
import { costNanoUsd } from '../../../billing/price-book.ts';
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import type { Usage } from '../../../generation/usage.ts';
import type { CallRecord } from '../../ports/records.ts';
import type { CallOutcome, UsageRank, UsageSums } from '../../ports/usage.ts';
import { percentilesMs, type Slots, slotOf } from './latency-slots.ts';

const CANCELLED = 'client_left';
const CALLERS: ReadonlySet<string> = new Set(
  (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
    (kind) => kind !== CANCELLED && FAILURE_KINDS[kind].origin === 'caller',
  ),
);

/** An error that this version does not know counts as a server error. */
export function outcomeOf(status: number, error: string | null): CallOutcome {
  if (error === CANCELLED) return 'cancelled';
  if (error === null) return status < 400 ? 'ok' : status < 500 ? 'client_error' : 'server_error';
  return CALLERS.has(error) ? 'client_error' : 'server_error';
}

const CALLERS_LIST = [...CALLERS].map((kind) => `'${kind}'`).join(', ');

/** The same in SQL, over a record's columns. */
export const OUTCOME_SQL = `CASE WHEN error = '${CANCELLED}' THEN 'cancelled'
  WHEN error IS NULL THEN CASE WHEN status < 400 THEN 'ok' WHEN status < 500 THEN 'client_error' ELSE 'server_error' END
  WHEN error IN (${CALLERS_LIST}) THEN 'client_error' ELSE 'server_error' END`;

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

/** The first counters are the number of calls and their outcomes. */
export const OUTCOME_COUNTERS = 4;

/**
 * Money is kept in two numbers, whole units of this many nano-USD and a remainder: exact, and faster than a bigint for
 * each row.
 */
export const MONEY_UNIT = 1_000_000_000;
const UNIT = BigInt(MONEY_UNIT);

/** Counters as COUNTERS, then cost and savings, each as units and remainder. */
export type Tally = number[];

export const COST_AT = COUNTERS.length;
const SAVINGS_AT = COST_AT + 2;
/** The index of money in a Tally: its units, followed by the remainder. */
const MONEY_AT = [COST_AT, SAVINGS_AT] as const;
export const TALLY_LENGTH = SAVINGS_AT + 2;
/** Above this, a remainder is carried into units, before it exceeds what a number holds exactly. */
const LEFT_MAX = 2 ** 52;

export interface Histograms {
  readonly latency: Slots;
  readonly ttfb: Slots;
}

/** The part of a record that is summed. */
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
  /** The price version at which a cache may have saved money; null: it did not, or nothing was charged. */
  readonly saved_at: string | null;
  /** As units of money and remainder: one number would silently lose digits beyond 2^53. */
  readonly cost_units: number | null;
  readonly cost_left: number | null;
  readonly ttfb_ms: number | null;
  readonly duration_ms: number;
}

/** The same as the columns below of the record's row. */
export function summedOf(record: CallRecord): SummedRecord {
  const { usage, cost_nano_usd: text, usage_source: source } = record;
  const mayHaveSaved = usage.cache_read > 0 && text !== null && source !== 'void' && source !== 'cache';
  const cost = BigInt(text ?? 0);
  return {
    request_id: record.request_id,
    at_ms: record.at_ms,
    account: record.account,
    workspace: record.workspace,
    key_id: record.key_id,
    model: record.model,
    provider: record.provider,
    protocol: record.protocol,
    end_user: record.end_user,
    session: record.session,
    status: record.status,
    error: record.error,
    input: usage.input,
    cache_read: usage.cache_read,
    cache_write_5m: usage.cache_write_5m,
    cache_write_1h: usage.cache_write_1h,
    output: usage.output,
    reasoning: usage.reasoning,
    saved_at: mayHaveSaved ? record.price_version : null,
    cost_units: text === null ? null : Number(cost / UNIT),
    cost_left: text === null ? null : Number(cost % UNIT),
    ttfb_ms: record.ttfb_ms,
    duration_ms: record.duration_ms,
  };
}

/** The columns of a SummedRecord. */
export const SUMMED_COLUMNS = `request_id, at_ms, call_record.account, workspace, key_id, model, provider, protocol, end_user,
  session, status, error, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
  CASE WHEN cache_read > 0 AND cost_nano_usd IS NOT NULL AND usage_source NOT IN ('void', 'cache') THEN price_version END AS saved_at,
  cost_nano_usd / ${MONEY_UNIT} AS cost_units, cost_nano_usd % ${MONEY_UNIT} AS cost_left, ttfb_ms, duration_ms`;

export function newTally(): Tally {
  return new Array<number>(TALLY_LENGTH).fill(0);
}

export function newHistograms(): Histograms {
  return { latency: [], ttfb: [] };
}

/** What one record adds to every sum that it belongs to. */
export interface RecordShare {
  readonly sums: Tally;
  /** Null: the call was not successful, or had no such time. */
  readonly latencySlot: number | null;
  readonly ttfbSlot: number | null;
}

export function shareOf(record: SummedRecord): RecordShare {
  const outcome = outcomeOf(record.status, record.error);
  const savings = record.saved_at === null ? 0n : savingsOf(record, record.saved_at);
  const sums = [
    1,
    outcome === 'client_error' ? 1 : 0,
    outcome === 'server_error' ? 1 : 0,
    outcome === 'cancelled' ? 1 : 0,
    record.cost_units === null ? 1 : 0,
    record.input,
    record.cache_read,
    record.cache_write_5m,
    record.cache_write_1h,
    record.output,
    record.reasoning,
    record.cost_units ?? 0,
    record.cost_left ?? 0,
    Number(savings / UNIT),
    Number(savings % UNIT),
  ];
  return {
    sums,
    latencySlot: outcome === 'ok' ? slotOf(record.duration_ms) : null,
    ttfbSlot: outcome === 'ok' && record.ttfb_ms !== null ? slotOf(record.ttfb_ms) : null,
  };
}

/** What a call posted to its account when it ended: more than nothing. */
export interface Charge {
  readonly endedMs: number;
  readonly keyName: string;
  /** As units of money and remainder. */
  readonly units: number;
  readonly left: number;
}

/** Null: nothing was posted. */
export function chargeOf(posted: bigint, endedMs: number, keyName: string): Charge | null {
  return posted > 0n ? { endedMs, keyName, units: Number(posted / UNIT), left: Number(posted % UNIT) } : null;
}

/** What a charged call adds to the sums of charges. */
export function shareOfCharge(record: SummedRecord, { units, left }: Charge): RecordShare {
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = record;
  const sums = [1, 0, 0, 0, 0, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, units, left, 0, 0];
  return { sums, latencySlot: null, ttfbSlot: null };
}

export function addTally(tally: Tally, other: Tally): void {
  for (let index = 0; index < TALLY_LENGTH; index++) tally[index] = (tally[index] ?? 0) + (other[index] ?? 0);
  carry(tally);
}

export function subtractTally(tally: Tally, other: Tally): void {
  for (let index = 0; index < TALLY_LENGTH; index++) tally[index] = (tally[index] ?? 0) - (other[index] ?? 0);
  carry(tally);
}

/** Adds the nth number of each column, in the order of a Tally. */
export function addColumns(tally: Tally, columns: readonly ArrayLike<number>[], nth: number): void {
  for (let index = 0; index < TALLY_LENGTH; index++) tally[index] = (tally[index] ?? 0) + (columns[index]?.[nth] ?? 0);
  carry(tally);
}

/** Adds all numbers of each column, in the order of a Tally. */
export function addWholeColumns(tally: Tally, columns: readonly ArrayLike<number>[]): void {
  for (let index = 0; index < TALLY_LENGTH; index++) {
    const column = columns[index];
    let sum = 0;
    for (let nth = 0; nth < (column?.length ?? 0); nth++) sum += column?.[nth] ?? 0;
    tally[index] = (tally[index] ?? 0) + sum;
  }
  carry(tally);
}

/** Carries remainders into units where they come near the limit of exact numbers. */
function carry(tally: Tally): void {
  for (const at of MONEY_AT) {
    const left = tally[at + 1] ?? 0;
    if (left < LEFT_MAX && left > -LEFT_MAX) continue;
    tally[at] = (tally[at] ?? 0) + Math.trunc(left / MONEY_UNIT);
    tally[at + 1] = left % MONEY_UNIT;
  }
}

/** For many tallies in columns: carries remainders into units, so that they fit a narrow column. */
export function carryColumns(sums: readonly Float64Array[]): void {
  for (const at of MONEY_AT) {
    const [units, left] = [sums[at], sums[at + 1]];
    if (units === undefined || left === undefined) continue;
    for (let nth = 0; nth < left.length; nth++) {
      const over = Math.trunc((left[nth] ?? 0) / MONEY_UNIT);
      if (over === 0) continue;
      units[nth] = (units[nth] ?? 0) + over;
      left[nth] = (left[nth] ?? 0) - over * MONEY_UNIT;
    }
  }
}

/** Sort key of a ranking: an amount, for money as units and remainder, then the number of calls. */
export interface RankedSum {
  readonly units: number;
  readonly left: number;
  readonly requests: number;
}

export const REQUESTS_AT = COUNTERS.indexOf('requests');
const atOf = (...names: (typeof COUNTERS)[number][]) => names.map((name) => COUNTERS.indexOf(name));

/** Where an amount is in a Tally: its units, if any, and the indexes that add up to its remainder. */
export const RANKED_AT: Readonly<
  Record<UsageRank, { readonly units: number | null; readonly left: readonly number[] }>
> = {
  cost: { units: COST_AT, left: [COST_AT + 1] },
  cache_savings: { units: SAVINGS_AT, left: [SAVINGS_AT + 1] },
  requests: { units: null, left: [REQUESTS_AT] },
  errors: { units: null, left: atOf('client_errors', 'server_errors') },
  tokens: { units: null, left: atOf('input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output') },
};

export function rankedOf(tally: Tally, rankedBy: UsageRank): RankedSum {
  const { units, left } = RANKED_AT[rankedBy];
  return {
    units: units === null ? 0 : (tally[units] ?? 0),
    left: left.reduce((sum, at) => sum + (tally[at] ?? 0), 0),
    requests: requestsOf(tally),
  };
}

export function requestsOf(tally: Tally): number {
  return tally[REQUESTS_AT] ?? 0;
}

export function moneyOf(units: number, left: number): bigint {
  return BigInt(units) * UNIT + BigInt(left);
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

/** What the call would have cost without cache reads, minus what its usage costs. */
function savingsOf(record: SummedRecord, version: string): bigint {
  const price = priceOf(version);
  if (price === null) return 0n;
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = record;
  const others = { cache_write_5m, cache_write_1h, output, reasoning };
  const uncached: Usage = { ...others, input: input + cache_read, cache_read: 0 };
  return costNanoUsd(uncached, price) - costNanoUsd({ ...others, input, cache_read }, price);
}

/** Null: an unknown version, as in records from before versions had prices. */
function priceOf(version: string): Price | null {
  const known = prices.get(version);
  if (known !== undefined) return known;
  if (prices.size >= PRICES_MAX) prices.clear();
  const price = readPriceVersion(version);
  prices.set(version, price);
  return price;
}
