/** Owns finding where calls of a sort are: ranges of request ids, by the quarters or days whose sums have such calls. */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallCondition, CallOutcome, LogQuestion } from '../../usage-port.ts';
import { type Parameter, recordCondition, seriesCondition } from './conditions.ts';
import { QUARTER_MS } from './plan-spans.ts';
import { ID_SLACK_MS } from './scan-records.ts';
import { readUsageAccount } from './usage-accounts.ts';
import { readThrough } from './usage-mark.ts';
import type { SeriesKind } from './usage-series.ts';

export interface IdRange {
  readonly from: string;
  /** No longer part of it. */
  readonly below: string;
}

export type FoundBy = Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'fromMs' | 'toMs' | 'beforeId'>;

/** The first stretch that is looked through; each further one is twice as long. */
const STRETCH_MS = 6 * 3_600_000;
/** Longer than any zone's day. */
const DAY_MS_MAX = 26 * 3_600_000;

/** How many of a row's calls ended so. */
export const OUTCOME_COUNT: Readonly<Record<CallOutcome, string>> = {
  ok: '(requests - client_errors - server_errors - cancelled)',
  client_error: 'client_errors',
  server_error: 'server_errors',
  cancelled: 'cancelled',
};

/** The newest first, none overlapping another; together they hold every call asked for, and others. */
export function* findIds(database: Database, question: FoundBy): Iterable<IdRange> {
  const { fromMs, toMs, beforeId } = question;
  // What is not rolled up yet is the newest, save what came late.
  let below = toMs === null ? '~' : requestIdFloor(toMs + ID_SLACK_MS);
  if (beforeId !== null && beforeId < below) below = beforeId;
  const tail = requestIdFloor((timeOf(readThrough(database)) ?? 0) - ID_SLACK_MS);
  const oldest = fromMs === null ? '' : requestIdFloor(fromMs - ID_SLACK_MS);
  if (below <= oldest) return;
  if (below > tail) {
    yield { from: oldest > tail ? oldest : tail, below };
    below = tail;
  }
  yield* rolledRanges(database, question, narrowKind(database, question), below);
}

/** Of a session or end user only the days are known, and those only since the account's zone is what it is. */
function narrowKind(database: Database, { tenant, condition }: FoundBy): SeriesKind {
  if (condition.session === null && condition.end_user === null) return 'call';
  const zone = readUsageAccount(database, tenant.account);
  if (zone === null || zone.sinceMs > 0) return 'call';
  return condition.session === null ? 'end_user' : 'session';
}

/** The part of a condition that series of a kind know. */
function knownTo(kind: SeriesKind, condition: CallCondition): CallCondition {
  const { workspace, end_user, session } = condition;
  if (kind === 'call') return { ...condition, end_user: null, session: null };
  const none = { model: null, provider: null, keys: null, protocol: null, end_user: null, session: null };
  return { ...none, workspace, ...(kind === 'session' ? { session } : { end_user }) };
}

function* rolledRanges(database: Database, question: FoundBy, kind: SeriesKind, top: string): Iterable<IdRange> {
  const oldestMs = question.fromMs ?? 0;
  const widthMs = kind === 'call' ? QUARTER_MS : DAY_MS_MAX;
  const starts = openStarts(database, question, kind);
  const late = readLateStarts(database, question);
  try {
    let below = top;
    let endMs = (timeOf(top) ?? FAR_MS) + ID_SLACK_MS;
    for (let stretchMs = STRETCH_MS; endMs > oldestMs; stretchMs *= 2) {
      const startMs = Math.max(0, endMs - stretchMs);
      const found = [...starts.read(startMs - widthMs, endMs), ...late.filter((at) => at >= startMs && at < endMs)];
      for (const at of [...new Set(found)].sort((one, other) => other - one)) {
        if (at + widthMs <= oldestMs) continue;
        const from = requestIdFloor(at - ID_SLACK_MS);
        const upTo = requestIdFloor(at + widthMs + ID_SLACK_MS);
        if (from < below) yield { from, below: upTo < below ? upTo : below };
        below = from < below ? from : below;
      }
      endMs = startMs;
      if (startMs === 0 || startMs < starts.oldestMs) return;
    }
  } finally {
    starts.close();
  }
}

/** Where rows begin that may have such calls. */
function openStarts(database: Database, { tenant, condition, outcome }: FoundBy, kind: SeriesKind) {
  const { sql, parameters } = seriesCondition(kind, tenant, knownTo(kind, condition));
  const ids = database
    .query<{ id: number }, Parameter[]>(`SELECT id FROM usage_series WHERE ${sql}`)
    .all(...parameters)
    .map(({ id }) => id);
  const account = readUsageAccount(database, tenant.account)?.id ?? 0;
  const [table, ofKind] = kind === 'call' ? ['usage_quarter', []] : ['usage_caller_day', [kind]];
  const rows = `${table} WHERE account = ? ${kind === 'call' ? '' : 'AND kind = ?'}`;
  const hasSuch = outcome === null ? '' : `AND ${OUTCOME_COUNT[outcome]} > 0`;
  const read = database.prepare<{ start_ms: number }, Parameter[]>(
    `SELECT DISTINCT start_ms FROM ${rows} AND start_ms >= ? AND start_ms < ?
      AND series IN (SELECT value FROM json_each(?)) ${hasSuch}`,
  );
  const oldest = database
    .query<{ start_ms: number | null }, Parameter[]>(`SELECT min(start_ms) AS start_ms FROM ${rows}`)
    .get(account, ...ofKind);
  const list = JSON.stringify(ids);
  return {
    oldestMs: oldest?.start_ms ?? Number.POSITIVE_INFINITY,
    read: (startMs: number, endMs: number) =>
      read.all(account, ...ofKind, Math.ceil(startMs), Math.ceil(endMs), list).map(({ start_ms }) => start_ms),
    close: () => read.finalize(),
  };
}

/** Of calls that are not rolled up though younger ones are. */
function readLateStarts(database: Database, { tenant, condition, outcome }: FoundBy): number[] {
  const { sql, parameters } = recordCondition(tenant, condition, outcome);
  const read = database.prepare<{ at_ms: number }, (string | number | null)[]>(
    `SELECT at_ms FROM usage_late CROSS JOIN call_record USING (request_id) WHERE ${sql}`,
  );
  try {
    return read.all(...parameters).map(({ at_ms }) => Math.floor(at_ms / QUARTER_MS) * QUARTER_MS);
  } finally {
    read.finalize();
  }
}

/** When an id of ours was made, unix ms; null: it is no such id. */
function timeOf(requestId: string): number | null {
  const digits = /^req_([0-9a-f]{12})/.exec(requestId)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/** 2^48 - 1: the last moment that an id can name. */
const FAR_MS = 281_474_976_710_655;
