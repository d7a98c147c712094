/**
 * Compares the attempts in a gateway's records with what the fake upstream served and counted: every reported
 * usage is charged, written off or absorbed to the nano-dollar, and all other usage is marked as an estimate.
 */
import { wasRefused } from '../../src/call/money/lost-attempt.ts';
import type { AttemptRecord, CallRecord } from '../../src/store/ports/records.ts';
import { findLabel } from '../crash/send-call.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import { priceOf } from './failing-targets.ts';

/** Counts and costs of all attempts, in nano-USD. */
export interface AttemptSums {
  calls: number;
  attempts: number;
  /** Attempts that the client did not get, by `billed`. */
  lost: { no: number; maybe: number; yes: number };
  /** By the fake upstream's counters, over the attempts whose usage it reported whole. */
  reported: bigint;
  /** Costs of records whose usage is upstream's, and of attempts with `billed: yes`. */
  booked: bigint;
  /** Of the attempts with `billed: maybe`: our estimates, and the actual use of the fake upstream. */
  estimated: bigint;
  used: bigint;
}

/** An attempt with the call that arrived by it; null: no call arrived. */
interface Matched {
  readonly row: AttemptRecord;
  readonly served: ServedCall | null;
}

/** Adds up all attempts, and returns a sentence for each violation. */
export function judgeAttempts(
  records: readonly CallRecord[],
  served: readonly ServedCall[],
): { readonly sums: AttemptSums; readonly problems: readonly string[] } {
  const sums: AttemptSums = {
    calls: records.length,
    attempts: 0,
    lost: { no: 0, maybe: 0, yes: 0 },
    reported: 0n,
    booked: 0n,
    estimated: 0n,
    used: 0n,
  };
  const arrivals = Map.groupBy(served, (call) => findLabel(call.requestBody) ?? '');
  const problems = records.flatMap((record) => {
    const label = record.end_user ?? '';
    const found = judgeRecord(record, matchRows(record, arrivals.get(label) ?? []), sums);
    arrivals.delete(label);
    return found.map((problem) => `${record.request_id} (${label}): ${problem}`);
  });
  for (const label of arrivals.keys()) problems.push(`the call ${label} reached the upstream and has no record`);
  if (sums.reported !== sums.booked)
    problems.push(`the upstream counted ${sums.reported} nano-USD, ${sums.booked} are booked`);
  return { sums, problems };
}

/**
 * Requests to one model arrive in the order of their rows. One that went out on a stale connection may not have arrived:
 * then no arrival is left for it beyond those of later rows.
 */
function matchRows({ attempts }: CallRecord, arrived: readonly ServedCall[]): Matched[] | string {
  const left = [...arrived];
  const take = (wanted: string) => {
    const at = left.findIndex(({ model }) => model === wanted);
    return at < 0 ? null : (left.splice(at, 1)[0] ?? null);
  };
  const matched = attempts.map((row, index): Matched => {
    const { model } = row;
    const later = attempts.slice(index + 1).filter((one) => one.model === model && isSent(one) && !isStale(one));
    const isLost = isStale(row) && left.filter((call) => call.model === model).length <= later.length;
    return { row, served: isSent(row) && !isLost ? take(model) : null };
  });
  return left.length === 0
    ? matched
    : `${left.length} arrivals at ${left.map(({ model }) => model).join()} have no attempt`;
}

function isSent({ connect_ms }: AttemptRecord): boolean {
  return typeof connect_ms === 'number';
}

/** It went out on a connection that its provider had closed, perhaps before it could read it. */
function isStale({ class: failure }: AttemptRecord): boolean {
  return failure === 'reset';
}

function judgeRecord(record: CallRecord, matched: Matched[] | string, sums: AttemptSums): string[] {
  if (typeof matched === 'string') return [matched];
  const problems: string[] = [];
  const charged = record.usage_source === 'void' ? null : (matched.at(-1) ?? null);
  for (const one of matched) {
    sums.attempts += 1;
    const problem = one === charged ? judgeCharged(record, one, sums) : judgeLost(one, sums);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

/** The attempt that the record charges: its usage is in the record, and not in its row. */
function judgeCharged(record: CallRecord, { row, served }: Matched, sums: AttemptSums): string | null {
  const { usage_source, cost_nano_usd } = record;
  if (row.billed !== undefined) return `its last attempt is charged and billed ${row.billed} as well`;
  if (record.provider !== row.provider) return `is of provider ${record.provider}, its last attempt of ${row.provider}`;
  const reported = served === null ? null : reportedCost(served);
  if (reported === null) return usage_source === 'upstream' ? 'claims a usage that the upstream did not report' : null;
  sums.reported += reported;
  sums.booked += BigInt(cost_nano_usd ?? '0');
  return cost_nano_usd === reported.toString() ? null : `costs ${cost_nano_usd}, the upstream counted ${reported}`;
}

function judgeLost({ row, served }: Matched, sums: AttemptSums): string | null {
  const { model, billed } = row;
  sums.lost[billed ?? 'no'] += 1;
  const reported = served === null ? null : reportedCost(served);
  const cost = BigInt(row.cost_nano_usd ?? '0');
  if (reported !== null) {
    sums.reported += reported;
    sums.booked += cost;
    return cost === reported ? null : `an attempt at ${model} costs ${cost}, the upstream counted ${reported}`;
  }
  if (billed === 'yes') return `an attempt at ${model} was billed, and the upstream reported no usage`;
  if (billed === 'maybe') {
    sums.estimated += cost;
    sums.used += served === null ? 0n : usedCost(served);
    return served === null && !isStale(row) ? `an attempt at ${model} that did not arrive may be billed` : null;
  }
  // An answer that begins with an error is that error.
  const refused = served === null || wasRefused({ ...row, status: served.status });
  return refused ? null : `an attempt at ${model} was not billed, and arrived with status ${served?.status}`;
}

/** The cost of a usage that was reported to its end; null: none was. A message reports output first with one token. */
function reportedCost({ model, usage }: ServedCall): bigint | null {
  const output = usage?.completion_tokens ?? usage?.output_tokens;
  if (typeof output !== 'number' || (output === 1 && usage?.completion_tokens === undefined)) return null;
  return costOf(model, inputOf(usage), output);
}

/** What the upstream had used by its own script, reported or not. */
function usedCost({ model, usage, eventsSent, status }: ServedCall): bigint {
  return status === 200 ? costOf(model, inputOf(usage) || 11, eventsSent) : 0n;
}

function inputOf(usage: ServedCall['usage']): number {
  return Number(usage?.prompt_tokens ?? usage?.input_tokens ?? 0);
}

function costOf(model: string | null, input: number, output: number): bigint {
  const price = priceOf(model ?? '');
  return BigInt(input) * price.input + BigInt(output) * price.output;
}
