/** Tests the groups of many failed requests: counts, filters, order, and an answer that ran out of time. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { Reason } from '../../../errors/reason.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallRecord } from '../../ports/records.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { callRecordValues, INSERT_CALL_RECORD, renderAttempts } from '../ledger/call-record-row.ts';
import { migrate } from '../migrations/migrate.ts';
import { startDeadline } from '../usage/scan-records.ts';
import { readReasons } from './read-reasons.ts';

const START_MS = Date.UTC(2026, 10, 20);
const ANY = { model: null, provider: null, keys: null, workspace: null, end_user: null, session: null, protocol: null };
const QUESTION = {
  tenant: { account: 'default', workspaces: null },
  condition: ANY,
  outcome: null,
  fromMs: START_MS,
  toMs: START_MS + 1e9,
  timeMsMax: 10_000,
};
const DAILY: Reason = {
  kind: 'budget_spent',
  subject: { type: 'key', id: 'key_1', name: 'prod' },
  rule: { id: 'key:key_1', cap: 'budget', window: 'day' },
  at_step: 'limits',
};
const MONTHLY: Reason = { ...DAILY, rule: { id: 'key:key_1', cap: 'budget', window: 'month' } };
const FAILED: Reason = { kind: 'provider_error', target: { provider: 'lab', model: 'm' }, at_step: 'provider' };

function openDatabase(records: readonly CallRecord[]): Database {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  const insert = database.prepare(INSERT_CALL_RECORD);
  database.transaction(() => {
    for (const record of records) {
      insert.run(...callRecordValues(record), renderAttempts(record), record.trace_id, ...EMPTY, 1);
    }
  })();
  return database;
}

/** The columns after the trace, of a record that held nothing. */
const EMPTY = Array.from({ length: 6 }, () => null);

function failedAt(second: number, reason: Reason | null, changes: Partial<CallRecord> = {}): CallRecord {
  const at_ms = START_MS + second * 1_000;
  const error = reason === null ? null : reason.kind === 'provider_error' ? 'upstream_failed' : 'quota_exceeded';
  return sampleRecord(requestIdFloor(at_ms), { at_ms, reason, error, ...changes });
}

test('requests with the same kind, subject, rule and provider are one group; the largest is first', () => {
  const database = openDatabase([
    failedAt(1, DAILY),
    failedAt(2, { ...DAILY, used: '7', limit: '8' }),
    failedAt(3, MONTHLY),
    failedAt(4, FAILED),
    failedAt(5, { ...FAILED, upstream: { status: 529, type: null, message: 'Overloaded' } }),
    failedAt(6, FAILED),
    failedAt(7, FAILED, { error: 'upstream_timeout' }),
    failedAt(8, { ...FAILED, target: { provider: 'other', model: 'm' } }),
    failedAt(9, null),
    failedAt(10, DAILY, { account: 'another' }),
  ]);
  const { groups, ...rest } = readReasons(database, QUESTION, startDeadline(10_000));
  expect(rest).toEqual({ requests: 8, otherGroups: 0, countedFromMs: null });
  expect(
    groups.map(({ group, requests, newest, oldestMs }) => [
      JSON.parse(group).join(),
      requests,
      (newest.at_ms - START_MS) / 1_000,
      (oldestMs - START_MS) / 1_000,
    ]),
  ).toEqual([
    ['provider_error,upstream_failed,,,,,lab', 3, 6, 4],
    ['budget_spent,quota_exceeded,key,key_1,budget,day,', 2, 2, 1],
    ['provider_error,upstream_failed,,,,,other', 1, 8, 8],
    ['provider_error,upstream_timeout,,,,,lab', 1, 7, 7],
    ['budget_spent,quota_exceeded,key,key_1,budget,month,', 1, 3, 3],
  ]);
  const counted = (changes: Partial<typeof QUESTION> & { readonly reason?: string }) =>
    readReasons(database, { ...QUESTION, ...changes }, startDeadline(10_000)).requests;
  expect(counted({ reason: 'budget_spent' })).toBe(3);
  expect(counted({ reason: groups[0]?.group ?? '' })).toBe(3);
  expect(counted({ fromMs: START_MS + 4_000, toMs: START_MS + 7_000 })).toBe(3);
});

test('at most 100 groups are listed, and the number of the others is told', () => {
  const records = Array.from({ length: 130 }, (_, nth) =>
    failedAt(nth, { ...DAILY, subject: { type: 'key', id: `key_${nth}`, name: 'k' } }),
  );
  const answer = readReasons(openDatabase(records), QUESTION, startDeadline(10_000));
  expect([answer.groups.length, answer.otherGroups, answer.requests]).toEqual([100, 30, 130]);
});

test('where the time is over, the newest requests are counted, and since when is told', () => {
  const records = Array.from({ length: 12_000 }, (_, nth) => failedAt(nth, nth % 2 === 0 ? DAILY : FAILED));
  const over = { isOver: () => true, check: () => undefined };
  const answer = readReasons(openDatabase(records), QUESTION, over);
  expect(answer.requests).toBe(5_000);
  expect(answer.countedFromMs).toBe(START_MS + 7_000 * 1_000);
});

test('a damaged reason leaves the record readable', () => {
  const database = openDatabase([failedAt(1, DAILY)]);
  database.run('DROP TRIGGER call_record_keeps');
  database.run("UPDATE call_record SET reason = 'no JSON'");
  expect(database.query('SELECT reason_kind, reason_group FROM call_record').all()).toEqual([
    { reason_kind: null, reason_group: null },
  ]);
});

test('reads the index of failed requests, which has the columns that it needs', () => {
  const database = openDatabase([failedAt(1, DAILY)]);
  const sql = `SELECT request_id, reason_group FROM call_record INDEXED BY call_record_reason
    WHERE account = 'default' AND request_id >= 'a' AND reason IS NOT NULL AND reason_kind = 'budget_spent'`;
  const plan = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  expect(plan.map(({ detail }) => detail).join()).toContain('call_record_reason (account=? AND request_id>?)');
});
