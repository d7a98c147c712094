/**
 * Explains lines of whole days, in which no request is named: searches the attempts whose usage makes up the difference
 * between the sums of a day and model here and there.
 */
import type { Findings } from './findings.ts';
import type { Tokens } from './invoice-line.ts';
import { distanceMs } from './match-requests.ts';
import type { OwnAttempt } from './own-attempts.ts';
import { tierOf, tierOfFactor } from './tiers.ts';

/** The lines of one model on one day. */
export interface DayLines {
  readonly day: string;
  readonly model: string;
  readonly modelKey: string;
  /** Null: the export does not state it. */
  readonly requests: number | null;
  readonly tokens: Tokens | null;
  readonly amount: bigint | null;
  /** Tokens by tier, where the export names tiers. */
  readonly tiers: ReadonlyMap<string, Tokens>;
}

/** Requests, then tokens; where the export has no tokens, nano-USD alone. */
type Vector = readonly bigint[];

const ZONE_MS = 15 * 3_600_000;
/** More candidates than this are not searched in pairs. */
const PAIRS_MAX = 2_000;

interface Day {
  readonly lines: DayLines;
  /** Answered here on this day. */
  readonly own: readonly OwnAttempt[];
  readonly lost: readonly OwnAttempt[];
  difference: Vector;
}

export function explainDays(allLines: readonly DayLines[], attempts: readonly OwnAttempt[], findings: Findings): void {
  const byPlace = Map.groupBy(attempts, ({ day, modelKey }) => `${day} ${modelKey}`);
  const days = allLines.map((lines): Day => {
    const all = byPlace.get(`${lines.day} ${lines.modelKey}`) ?? [];
    const own = all.filter(({ role }) => role === 'answered');
    const lost = all.filter(({ role }) => role === 'lost');
    // A batch is one record of many requests: then tokens alone are compared.
    const counted = all.some(({ isBatch }) => isBatch) ? { ...lines, requests: null } : lines;
    return {
      lines: counted,
      own,
      lost,
      difference: own.reduce((sum, each) => minus(sum, vectorOf(counted, each)), billedOf(counted)),
    };
  });
  const places = new Map(days.map((day) => [`${day.lines.day} ${day.lines.modelKey}`, day]));
  for (const day of days) {
    const near = [-1, 1].flatMap(
      (step) => byPlace.get(`${dateAfter(day.lines.day, step)} ${day.lines.modelKey}`) ?? [],
    );
    takeFromNeighbours(day, near, places, findings);
  }
  for (const day of days) {
    if (!isZero(day.difference)) explainDay(day, findings);
    comparePrices(day, findings);
  }
}

/** Moves requests near midnight between days where both then differ less, in every counter. */
function takeFromNeighbours(
  day: Day,
  near: readonly OwnAttempt[],
  places: ReadonlyMap<string, Day>,
  findings: Findings,
): void {
  const { lines } = day;
  if (isZero(day.difference)) return;
  for (const own of near) {
    if (own.role === 'lost' || distanceMs(lines.day, own.atMs) > ZONE_MS) continue;
    const vector = vectorOf(lines, own);
    const neighbour = places.get(`${own.day} ${own.modelKey}`);
    // A neighbour outside of the export may have anything.
    const isShort =
      neighbour === undefined ||
      contains(
        neighbour.difference.map((each) => -each),
        vector,
      );
    if (isZero(vector) || !contains(day.difference, vector) || !isShort) continue;
    day.difference = minus(day.difference, vector);
    const detail = `counted to ${lines.day} by the provider and to ${own.day} here: another time zone`;
    findings.addOf(own, 'other_day', own.cost ?? 0n, detail, { day: lines.day });
    if (neighbour === undefined) continue;
    neighbour.difference = plus(neighbour.difference, vectorOf(neighbour.lines, own));
    findings.addOf(own, 'other_day', -(own.cost ?? 0n), detail);
  }
}

function dateAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

type Move = {
  readonly own: OwnAttempt;
  readonly cause: 'retried_attempt' | 'double' | 'not_billed';
  readonly vector: Vector;
};

function explainDay(day: Day, findings: Findings): void {
  const { lines, own, lost } = day;
  const moves: Move[] = [
    ...lost.map((each) => ({ own: each, cause: 'retried_attempt' as const, vector: vectorOf(lines, each) })),
    ...own.map((each) => ({ own: each, cause: 'double' as const, vector: vectorOf(lines, each) })),
    ...own.map((each) => ({ own: each, cause: 'not_billed' as const, vector: negative(vectorOf(lines, each)) })),
  ];
  const found = findMoves(day.difference, moves);
  for (const { own: each, cause, vector } of found) {
    day.difference = minus(day.difference, vector);
    findings.addOf(each, cause, cause === 'not_billed' ? -(each.cost ?? 0n) : (each.cost ?? 0n), detailOf(each, cause));
  }
  if (!isZero(day.difference)) explainRest(day, found, findings);
}

function detailOf({ requestId, attempt }: OwnAttempt, cause: Move['cause']): string {
  if (cause === 'double') return `the difference is exactly request ${requestId} once more`;
  if (cause === 'not_billed') return `the difference is exactly request ${requestId}, which is not in the export`;
  return `attempt ${attempt} of request ${requestId} did not answer it and was billed: the operator's cost`;
}

/** One to three moves that make up the difference exactly; none: there are no such. */
function findMoves(difference: Vector, moves: readonly Move[]): readonly Move[] {
  const byVector = new Map<string, Move>();
  for (const move of moves) {
    const key = String(move.vector);
    if (!isZero(move.vector) && !byVector.has(key)) byVector.set(key, move);
  }
  const one = byVector.get(String(difference));
  if (one !== undefined) return [one];
  const few = moves.slice(0, PAIRS_MAX);
  for (const first of few) {
    const second = byVector.get(String(minus(difference, first.vector)));
    if (second !== undefined && second.own !== first.own) return [first, second];
  }
  if (few.length > 200) return [];
  for (const first of few) {
    for (const second of few) {
      if (second.own === first.own) continue;
      const third = byVector.get(String(minus(minus(difference, first.vector), second.vector)));
      if (third !== undefined && third.own !== first.own && third.own !== second.own) return [first, second, third];
    }
  }
  return [];
}

/** No set of attempts is exact: their usage is an estimate, or there is no record. */
function explainRest(day: Day, found: readonly Move[], findings: Findings): void {
  const { lines } = day;
  const price = priceIn(day);
  const cost = (vector: Vector): bigint => costOf(lines, vector, price);
  const place = { day: lines.day, model: lines.model };
  const unused = day.lost.filter((each) => !found.some(({ own }) => own === each));
  let requests = lines.requests === null ? null : (day.difference[0] ?? 0n);
  for (const each of unused) {
    const isLeft = requests === null ? contains(day.difference, vectorOf(lines, each)) : requests > 0n;
    if (!isLeft) break;
    if (requests !== null) requests -= 1n;
    day.difference = minus(day.difference, vectorOf(lines, each));
    findings.addOf(
      each,
      'retried_attempt',
      each.cost ?? 0n,
      `${detailOf(each, 'retried_attempt')}; its usage is an estimate`,
    );
  }
  if (isZero(day.difference)) return;
  const amount = cost(day.difference);
  const cut = day.own.filter(({ isEstimated }) => isEstimated);
  if (requests !== null && requests !== 0n) {
    const isMore = requests > 0n;
    findings.add({
      ...place,
      cause: isMore ? 'missing_call' : 'not_billed',
      amount,
      count: Number(isMore ? requests : -requests),
      detail: isMore
        ? 'billed by the provider, and no record of this gateway matches: is the credential used elsewhere?'
        : 'recorded here, and not in the export',
    });
    return;
  }
  const [first] = cut;
  if (first !== undefined) {
    const others = cut.length === 1 ? '' : ` and ${cut.length - 1} others`;
    const detail = `the end of request ${first.requestId}${others} was not reported, so the usage here is an estimate`;
    findings.addOf(first, 'cut_stream', amount, detail, { count: cut.length });
    return;
  }
  if (lines.tokens !== null) {
    findings.add({
      ...place,
      cause: requests === null && amount > 0n ? 'missing_call' : 'usage',
      amount,
      detail: 'no record matches it',
    });
  }
}

/** Compares the amounts of a day whose usage is explained. */
function comparePrices(day: Day, findings: Findings): void {
  const { lines } = day;
  for (const [tier, tokens] of lines.tiers) {
    const ours = day.own.filter((own) => tierOf(own.tier) === tierOf(tier)).map(({ tokens }) => tokens);
    if (tierOf(tier) === null || sumKey(ours) === sumKey([tokens])) continue;
    const own = day.own.find(
      (each) => tierOf(each.tier) !== tierOf(tier) && sumKey([each.tokens]) === sumKey([tokens]),
    );
    if (own === undefined) continue;
    const detail = `billed as ${tier}, recorded as ${tierOf(own.tier) ?? 'standard'}`;
    findings.addOf(own, 'wrong_tier', restOf(day, findings), detail);
    return;
  }
  if (lines.amount === null || !isZero(day.difference)) return;
  const rest = restOf(day, findings);
  const tolerance = BigInt(day.own.length + 1);
  if (rest <= tolerance && rest >= -tolerance) return;
  const place = { day: lines.day, model: lines.model, amount: rest };
  const whole = day.own.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  const single = day.own.find(({ cost }) => cost !== null && tierOfFactor(cost + rest, cost) !== null);
  if (tierOfFactor(whole + rest, whole) !== null) {
    const detail = `the same usage at the price of ${tierOfFactor(whole + rest, whole)}`;
    findings.add({ ...place, cause: 'wrong_tier', count: day.own.length, detail });
  } else if (single?.cost) {
    const detail = `the difference is that of request ${single.requestId} at the price of ${tierOfFactor(single.cost + rest, single.cost)}`;
    findings.addOf(single, 'wrong_tier', rest, detail);
  } else {
    findings.add({
      ...place,
      cause: 'price',
      detail: 'the same usage at another price: compare the price of the model',
    });
  }
}

/** The part of the difference in money that has no finding yet. */
function restOf({ lines, own }: Day, findings: Findings): bigint {
  if (lines.amount === null) return 0n;
  const recorded = own.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  const explained = findings.explained(lines.day, lines.modelKey);
  return lines.amount - recorded - explained;
}

function priceIn({ own, lost }: Day): OwnAttempt | null {
  return [...own, ...lost].find(({ cost, price }) => cost !== null && price !== null) ?? null;
}

function costOf({ tokens, amount }: DayLines, vector: Vector, sample: OwnAttempt | null): bigint {
  if (tokens === null && amount !== null) return vector[0] ?? 0n;
  const price = sample?.price ?? null;
  if (price === null) return 0n;
  const [, input = 0n, read = 0n, write = 0n, output = 0n] = vector;
  const pico = input * price.input + read * price.cache_read + write * price.cache_write_5m + output * price.output;
  return pico / 1_000n;
}

function billedOf({ requests, tokens, amount }: DayLines): Vector {
  if (tokens === null) return [amount ?? 0n];
  const { input, cache_read, cache_write, output } = tokens;
  return [requests ?? 0, input, cache_read, cache_write, output].map(BigInt);
}

function vectorOf({ requests, tokens }: DayLines, own: OwnAttempt): Vector {
  if (tokens === null) return [own.cost ?? 0n];
  const { input, cache_read, cache_write, output } = own.tokens;
  return [requests === null ? 0 : 1, input, cache_read, cache_write, output].map(BigInt);
}

function sumKey(all: readonly Tokens[]): string {
  const sum = (counter: keyof Tokens) => all.reduce((total, tokens) => total + tokens[counter], 0);
  return [sum('input'), sum('cache_read'), sum('cache_write'), sum('output')].join(' ');
}

const minus = (one: Vector, other: Vector): Vector => one.map((each, at) => each - (other[at] ?? 0n));
const plus = (one: Vector, other: Vector): Vector => one.map((each, at) => each + (other[at] ?? 0n));
const negative = (vector: Vector): Vector => vector.map((each) => -each);
const isZero = (vector: Vector): boolean => vector.every((each) => each === 0n);
const contains = (whole: Vector, part: Vector): boolean => whole.every((each, at) => each >= (part[at] ?? 0n));
