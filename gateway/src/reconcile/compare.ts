/** Compares an export with the attempts of records, per day and model, and explains the differences. */

import type { Price } from '../billing/price.ts';
import { costNanoUsd } from '../billing/price-book.ts';
import type { Finding, ReconciledDay } from '../store/ports/books/reconciliation.ts';
import { type DayLines, explainDays } from './explain-days.ts';
import { createFindings, type Findings } from './findings.ts';
import { attoToNano, type InvoiceLine, type Tokens } from './invoice-line.ts';
import { matchRequests, type RequestLine } from './match-requests.ts';
import { attemptModelKey } from './model-names.ts';
import type { OwnAttempt } from './own-attempts.ts';
import { tierOf } from './tiers.ts';

export interface Comparison {
  readonly days: readonly ReconciledDay[];
  readonly findings: readonly Finding[];
  readonly billed: bigint;
  readonly recorded: bigint;
  readonly explained: bigint;
}

const NO_TOKENS: Tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 };

/** `attempts`: those of the days of the export and of a day around them. */
export function compareInvoice(lines: readonly InvoiceLine[], attempts: readonly OwnAttempt[]): Comparison {
  const covered = new Set(lines.map(({ day }) => day));
  const inExport = (day: string) => covered.has(day);
  const priceOf = pricesOf(attempts);
  const findings = createFindings();
  const requests = lines.filter(({ atMs, requestId }) => atMs !== null || requestId !== null);
  const whole = groupDays(
    lines.filter(({ atMs, requestId }) => atMs === null && requestId === null),
    priceOf,
  );
  const single = requests.map((line): RequestLine => ({ ...line, ...priced(line, priceOf), tier: line.tier }));
  if (single.length > 0) matchRequests(single, attempts, findings, inExport);
  if (whole.length > 0) {
    explainDays(whole, attempts, findings);
    noteMissingDays(
      whole,
      attempts.filter((own) => inExport(own.day)),
      findings,
    );
  }
  return sumUp(
    single,
    whole,
    attempts.filter((own) => inExport(own.day)),
    findings.list(),
  );
}

/** Records of models that a day of the export does not have at all. */
function noteMissingDays(whole: readonly DayLines[], attempts: readonly OwnAttempt[], findings: Findings): void {
  const stated = new Set(whole.map(({ day, modelKey }) => `${day} ${modelKey}`));
  const groups = Map.groupBy(
    attempts.filter(({ role }) => role === 'answered'),
    ({ day, modelKey }) => `${day} ${modelKey}`,
  );
  for (const [place, [first, ...others]] of groups) {
    if (first === undefined || stated.has(place)) continue;
    // Findings of requests that were moved to this day or from it are already there.
    const recorded = [first, ...others].reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
    const amount = -recorded - findings.explained(first.day, first.modelKey);
    const detail = 'recorded here, and the export has nothing of this model on this day';
    if (amount !== 0n) findings.addOf(first, 'not_billed', amount, detail, { count: others.length + 1 });
  }
}

/** The list price of a model by its records. */
function pricesOf(attempts: readonly OwnAttempt[]): (modelKey: string) => Price | null {
  const prices = new Map<string, Price>();
  for (const { modelKey, price } of attempts) if (price !== null) prices.set(modelKey, price);
  return (modelKey) => prices.get(modelKey) ?? null;
}

/** A line without an amount is priced as the records of its model are. */
function priced({ model, amount, tokens }: InvoiceLine, priceOf: (modelKey: string) => Price | null) {
  const modelKey = attemptModelKey(model);
  if (amount !== null) return { modelKey, amount: attoToNano(amount) };
  const price = priceOf(modelKey);
  if (price === null || tokens === null) return { modelKey, amount: null };
  const { input, cache_read, cache_write, output } = tokens;
  const usage = { input, cache_read, cache_write_5m: cache_write, cache_write_1h: 0, output, reasoning: 0 };
  return { modelKey, amount: costNanoUsd(usage, price) };
}

function groupDays(lines: readonly InvoiceLine[], priceOf: (modelKey: string) => Price | null): readonly DayLines[] {
  const groups = Map.groupBy(lines, ({ day, model }) => `${day} ${attemptModelKey(model)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const requests = group.every((line) => line.requests === null) ? null : sum(group, (line) => line.requests ?? 0);
    const tokens = group.every((line) => line.tokens === null)
      ? null
      : addTokens(group.map((line) => line.tokens ?? NO_TOKENS));
    const exact = group.some((line) => line.amount !== null)
      ? group.reduce((total, line) => total + (line.amount ?? 0n), 0n)
      : null;
    const tiers = new Map<string, Tokens>();
    for (const line of group) {
      if (line.tier === null || line.tokens === null || tierOf(line.tier) === null) continue;
      tiers.set(line.tier, addTokens([tiers.get(line.tier) ?? NO_TOKENS, line.tokens]));
    }
    const { day, model } = first;
    return [{ day, model, requests, tokens, tiers, ...priced({ ...first, amount: exact, tokens }, priceOf) }];
  });
}

function sumUp(
  single: readonly RequestLine[],
  whole: readonly DayLines[],
  attempts: readonly OwnAttempt[],
  findings: readonly Finding[],
): Comparison {
  const days = new Map<string, { -readonly [Member in keyof ReconciledDay]: ReconciledDay[Member] }>();
  const dayOf = (day: string, model: string) => {
    const place = `${day} ${attemptModelKey(model)}`;
    const found = days.get(place) ?? {
      day,
      model,
      billedRequests: null,
      recordedRequests: 0,
      billed: null,
      recorded: 0n,
      explained: 0n,
    };
    days.set(place, found);
    return found;
  };
  for (const line of [...single, ...whole]) {
    const day = dayOf(line.day, line.model);
    const requests = 'requests' in line ? line.requests : 1;
    if (requests !== null) day.billedRequests = (day.billedRequests ?? 0) + requests;
    if (line.amount !== null) day.billed = (day.billed ?? 0n) + line.amount;
  }
  for (const own of attempts) {
    if (own.role === 'lost') continue;
    const day = dayOf(own.day, own.model);
    day.recordedRequests += 1;
    day.recorded += own.cost ?? 0n;
  }
  for (const { day, model, amount } of findings) dayOf(day, model).explained += amount;
  const list = [...days.values()].sort((one, other) =>
    `${one.day} ${one.model}` < `${other.day} ${other.model}` ? -1 : 1,
  );
  const total = (read: (day: ReconciledDay) => bigint) => list.reduce((all, day) => all + read(day), 0n);
  return {
    days: list,
    findings,
    billed: total(({ billed }) => billed ?? 0n),
    recorded: total(({ recorded }) => recorded),
    explained: total(({ explained }) => explained),
  };
}

function addTokens(all: readonly Tokens[]): Tokens {
  return {
    input: sum(all, ({ input }) => input),
    cache_read: sum(all, ({ cache_read }) => cache_read),
    cache_write: sum(all, ({ cache_write }) => cache_write),
    output: sum(all, ({ output }) => output),
  };
}

function sum<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((total, item) => total + read(item), 0);
}
