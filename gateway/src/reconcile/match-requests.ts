/** Explains lines of single requests: finds the attempt of each, and says why a line or an attempt has no other side. */
import type { Cause } from '../store/ports/books/reconciliation.ts';
import type { Findings } from './findings.ts';
import type { Tokens } from './invoice-line.ts';
import type { OwnAttempt } from './own-attempts.ts';
import { findNearest, indexByTime, pairInTime } from './pair-in-time.ts';
import { tierOf, tierOfFactor } from './tiers.ts';

/** A line of one request, priced. */
export interface RequestLine {
  readonly day: string;
  readonly atMs: number | null;
  readonly model: string;
  readonly modelKey: string;
  readonly requestId: string | null;
  readonly tokens: Tokens | null;
  /** Nano-USD; null: the export has no amounts, and no price is known. */
  readonly amount: bigint | null;
  readonly tier: string | null;
}

const NEAR_MS = 10 * 60_000;
/** Time zones are at most 14 hours from UTC. */
const ZONE_MS = 15 * 3_600_000;

/** `inExport`: whether the export covers a day. */
export function matchRequests(
  lines: readonly RequestLine[],
  attempts: readonly OwnAttempt[],
  findings: Findings,
  inExport: (day: string) => boolean,
): void {
  const used = new Set<OwnAttempt>();
  const matched = new Map<RequestLine, OwnAttempt>();
  const byId = new Map(
    attempts.flatMap((own) => (own.upstreamRequestId === null ? [] : [[own.upstreamRequestId, own]])),
  );
  const byUse = indexByTime(attempts, (own) => useKey(own.modelKey, own.tokens));
  const byModel = indexByTime(
    attempts.filter((own) => own.isEstimated || own.role === 'lost'),
    ({ modelKey }) => modelKey,
  );
  const take = (line: RequestLine, own: OwnAttempt): void => {
    used.add(own);
    matched.set(line, own);
  };
  const doubles = new Map<RequestLine, OwnAttempt>();
  let left: readonly RequestLine[] = lines.filter((line) => {
    const own = line.requestId === null ? undefined : byId.get(line.requestId);
    if (own === undefined) return true;
    if (used.has(own)) doubles.set(line, own);
    else take(line, own);
    return false;
  });
  const useOf = (line: RequestLine) => (line.tokens === null ? null : useKey(line.modelKey, line.tokens));
  // Those at the same time first, so that a missing line does not shift the others of its kind.
  left = pairInTime(left, byUse, useOf, NEAR_MS, used, take);
  left = pairInTime(left, byUse, useOf, ZONE_MS, used, take);
  left = pairInTime(left, byModel, ({ modelKey }) => modelKey, NEAR_MS, used, take);
  for (const line of left) {
    const twin = findNearest(line, byUse.get(useOf(line) ?? '') ?? [], NEAR_MS);
    if (twin !== undefined) doubles.set(line, twin);
    else addMissing(line, findings);
  }
  for (const [line, own] of doubles) {
    const detail = `billed twice: request ${own.requestId} had this attempt once`;
    findings.addOf(own, 'double', line.amount ?? 0n, detail, { day: line.day, providerRequestId: line.requestId });
  }
  for (const [line, own] of matched) compareMatch(line, own, findings, inExport);
  for (const own of attempts) {
    if (used.has(own) || own.role === 'lost' || !inExport(own.day)) continue;
    findings.addOf(own, 'not_billed', -(own.cost ?? 0n), 'recorded here, and not in the export');
  }
}

function addMissing({ day, model, requestId, amount }: RequestLine, findings: Findings): void {
  const detail = 'billed by the provider, and no record of this gateway matches it: is the credential used elsewhere?';
  findings.add({ day, model, cause: 'missing_call', amount: amount ?? 0n, providerRequestId: requestId, detail });
}

function compareMatch(
  line: RequestLine,
  own: OwnAttempt,
  findings: Findings,
  inExport: (day: string) => boolean,
): void {
  const more = { day: line.day, providerRequestId: line.requestId };
  const amount = line.amount ?? own.cost ?? 0n;
  if (own.role === 'lost') {
    const detail = `attempt ${own.attempt} of request ${own.requestId} did not answer it and was billed: the operator's cost`;
    findings.addOf(own, 'retried_attempt', amount, detail, more);
    return;
  }
  if (own.cost === null) {
    findings.addOf(own, 'unpriced', amount, 'the record has no price', more);
    return;
  }
  if (line.day !== own.day) {
    const detail = `counted to ${line.day} by the provider and to ${own.day} here: another time zone`;
    findings.addOf(own, 'other_day', own.cost, detail, more);
    // What is recorded on a day outside of the export is not compared.
    if (inExport(own.day)) findings.addOf(own, 'other_day', -own.cost, detail, { providerRequestId: line.requestId });
  }
  const difference = amount - own.cost;
  if (difference === 0n) return;
  const [cause, detail] = causeOf(line, own, amount, own.cost);
  findings.addOf(own, cause, difference, detail, more);
}

function causeOf(line: RequestLine, own: OwnAttempt, billed: bigint, recorded: bigint): readonly [Cause, string] {
  if (line.tokens === null || useKey('', line.tokens) === useKey('', own.tokens)) {
    const [theirs, ours] = [tierOf(line.tier), tierOf(own.tier)];
    if (theirs !== ours && line.tier !== null) {
      return ['wrong_tier', `billed as ${theirs ?? 'standard'}, recorded as ${ours ?? 'standard'}`];
    }
    const tier = tierOfFactor(billed, recorded);
    if (tier !== null)
      return ['wrong_tier', `the same usage at the price of ${tier}, recorded as ${ours ?? 'standard'}`];
    return ['price', 'the same usage at another price: compare the price of the model'];
  }
  if (own.isEstimated) {
    return ['cut_stream', `the end of request ${own.requestId} was not reported, so its usage here is an estimate`];
  }
  return ['usage', 'the provider counts other tokens than it reported with the answer'];
}

/** How far a moment is from a day in UTC. */
export function distanceMs(day: string, atMs: number): number {
  const startMs = Date.parse(day);
  return Math.max(0, startMs - atMs, atMs - (startMs + 86_400_000 - 1));
}

function useKey(modelKey: string, { input, cache_read, cache_write, output }: Tokens): string {
  return `${modelKey} ${input} ${cache_read} ${cache_write} ${output}`;
}
