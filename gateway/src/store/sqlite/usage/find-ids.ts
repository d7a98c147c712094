/**
 * Finds the ranges of request ids that can contain matching calls, by the quarters of an hour whose sums include such
 * calls.
 */
import type { Database } from 'bun:sqlite';
import { dayAt } from '../../../admission/window.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallCondition, CallOutcome, LogQuestion } from '../../ports/usage.ts';
import type { BlockStep } from '../rollup/block-book.ts';
import type { SumBlock } from '../rollup/sum-block.ts';
import { COUNTERS } from '../rollup/tally.ts';
import { readUsageAccount } from '../rollup/usage-accounts.ts';
import { readUsageMark, type UsageMark } from '../rollup/usage-mark.ts';
import type { UsageKind } from '../rollup/usage-series.ts';
import { recordCondition } from './conditions.ts';
import { QUARTER_MS, type Span } from './plan-spans.ts';
import { readBlocks, readOldestQuarter, readQuarters, readSeriesIds } from './read-blocks.ts';
import { ID_SLACK_MS } from './scan-records.ts';

export interface IdRange {
  readonly from: string;
  /** Exclusive. */
  readonly below: string;
}

export type FoundBy = Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'fromMs' | 'toMs' | 'beforeId'>;

/** Length of the first span that is searched; each further one is twice as long. */
const FIRST_SPAN_MS = 6 * 3_600_000;

/** Newest first, without overlap; together the ranges contain every matching call, and others. */
export function* findIds(database: Database, question: FoundBy): Iterable<IdRange> {
  const { fromMs, toMs, beforeId } = question;
  // Calls that are not rolled up yet are the newest, except those that ended late.
  let below = toMs === null ? '~' : requestIdFloor(toMs + ID_SLACK_MS);
  if (beforeId !== null && beforeId < below) below = beforeId;
  const mark = readUsageMark(database);
  const tail = requestIdFloor(mark.atMs - ID_SLACK_MS);
  const oldest = fromMs === null ? '' : requestIdFloor(fromMs - ID_SLACK_MS);
  if (below <= oldest) return;
  if (below > tail) {
    yield { from: oldest > tail ? oldest : tail, below };
    below = tail;
  }
  yield* rolledRanges(database, question, { kind: narrowKind(question.condition), mark, tail }, below);
}

/** The kind of series that has most of the requested columns. */
function narrowKind({ session, end_user }: CallCondition): UsageKind {
  if (session !== null) return 'session';
  return end_user === null ? 'call' : 'end_user';
}

/** The part of a condition that series of a kind can check. */
function knownTo(kind: UsageKind, condition: CallCondition): CallCondition {
  const { workspace, end_user, session } = condition;
  if (kind === 'call') return { ...condition, end_user: null, session: null };
  const none = { model: null, provider: null, keys: null, protocol: null, end_user: null, session: null };
  return { ...none, workspace, ...(kind === 'session' ? { session } : { end_user }) };
}

function* rolledRanges(
  database: Database,
  question: FoundBy,
  rolled: { readonly kind: UsageKind; readonly mark: UsageMark; readonly tail: string },
  top: string,
): Iterable<IdRange> {
  const oldestMs = question.fromMs ?? 0;
  const starts = openStarts(database, question, rolled.kind);
  const late = readLateStarts(database, question, rolled);
  const firstMs = late.reduce((least, at) => Math.min(least, at), starts.oldestMs);
  let below = top;
  let endMs = (timeOf(top) ?? FAR_MS) + ID_SLACK_MS;
  for (let spanMs = FIRST_SPAN_MS; endMs > oldestMs; spanMs *= 2) {
    const startMs = Math.max(0, endMs - spanMs);
    const found = [...starts.read(startMs - QUARTER_MS, endMs), ...late.filter((at) => at >= startMs && at < endMs)];
    for (const at of [...new Set(found)].sort((one, other) => other - one)) {
      if (at + QUARTER_MS <= oldestMs) continue;
      const from = requestIdFloor(at - ID_SLACK_MS);
      const upTo = requestIdFloor(at + QUARTER_MS + ID_SLACK_MS);
      if (from < below) yield { from, below: upTo < below ? upTo : below };
      below = from < below ? from : below;
    }
    endMs = startMs;
    if (startMs === 0 || startMs < firstMs) return;
  }
}

/** The starts of the quarters that have matching calls. */
function openStarts(database: Database, { tenant, condition, outcome }: FoundBy, kind: UsageKind) {
  const ids = readSeriesIds(database, { tenant, condition: knownTo(kind, condition), kind });
  const { id: account, sinceMs, timeZone } = readUsageAccount(database, tenant.account) ?? NO_ACCOUNT;
  const startsIn = (step: BlockStep, span: Span): number[] => {
    const found: number[] = [];
    for (const block of readBlocks(database, { account, kind }, { step, span }, 'counts')) {
      if (block.series.some((id, nth) => (ids?.has(id) ?? true) && countCalls(block, nth, outcome) > 0)) {
        found.push(block.startMs);
      }
    }
    return found;
  };
  return {
    oldestMs: readOldestQuarter(database, account) ?? Number.POSITIVE_INFINITY,
    read(fromMs: number, toMs: number): number[] {
      const [startMs, endMs] = [Math.ceil(fromMs), Math.ceil(toMs)];
      if (ids === null && outcome === null) return readQuarters(database, account, { startMs, endMs });
      // A day has about a hundred quarters: those of days without matching calls are not read.
      const daysMs = Math.max(startMs, sinceMs);
      const days = startsIn('day', { startMs: dayAt(timeZone, daysMs).startMs, endMs });
      return [
        ...startsIn('quarter', { startMs, endMs: Math.min(endMs, sinceMs) }),
        ...[...new Set(days)].flatMap((at) =>
          startsIn('quarter', {
            startMs: Math.max(at, daysMs),
            endMs: Math.min(dayAt(timeZone, at).endMs, endMs),
          }),
        ),
      ];
    },
  };
}

const NO_ACCOUNT = { id: 0, sinceMs: 0, timeZone: 'UTC' } as const;

/** For calls with an id before the tail that are not rolled up. */
function readLateStarts(
  database: Database,
  { tenant, condition, outcome }: FoundBy,
  { mark, tail }: { readonly mark: UsageMark; readonly tail: string },
): number[] {
  const { sql, parameters } = recordCondition(tenant, condition, outcome);
  const read = database.prepare<{ at_ms: number }, (string | number | null)[]>(
    `SELECT at_ms FROM call_record INDEXED BY call_record_block WHERE block > ? AND request_id < ? AND ${sql}`,
  );
  try {
    const rows = read.all(mark.block, tail, ...parameters);
    return rows.map(({ at_ms }) => Math.floor(at_ms / QUARTER_MS) * QUARTER_MS);
  } finally {
    read.finalize();
  }
}

/** The creation time of a request id, unix ms; null: not one of our ids. */
export function timeOf(requestId: string): number | null {
  const digits = /^req_([0-9a-f]{12})/.exec(requestId)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/** 2^48 - 1: the last time that an id can encode. */
const FAR_MS = 281_474_976_710_655;

const AT = {
  requests: COUNTERS.indexOf('requests'),
  client_error: COUNTERS.indexOf('client_errors'),
  server_error: COUNTERS.indexOf('server_errors'),
  cancelled: COUNTERS.indexOf('cancelled'),
} as const;

/** Calls of the nth series with an outcome; null: any outcome. */
function countCalls({ sums }: SumBlock, nth: number, outcome: CallOutcome | null): number {
  const at = (name: keyof typeof AT) => sums[AT[name]]?.[nth] ?? 0;
  if (outcome === null) return at('requests');
  if (outcome !== 'ok') return at(outcome);
  return at('requests') - at('client_error') - at('server_error') - at('cancelled');
}
