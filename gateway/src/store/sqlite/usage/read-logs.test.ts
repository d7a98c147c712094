/** Tests lists of calls: every call once and in order, for any filter and any progress of the rollup. */

import type { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import type { CallRecord } from '../../ports/records.ts';
import { type LogQuestion, NONE } from '../../ports/usage.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { outcomeOf } from '../rollup/tally.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { openIngestRig } from '../testing/ingest-rig.ts';
import { readCall, readLogs, readTail } from './read-logs.ts';
import { startDeadline } from './scan-records.ts';

const newFolder = temporaryFolders();
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2025, 2, 1);
const END_MS = START_MS + 20 * 24 * HOUR_MS;
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 6,
  models: 8,
  endUsersPerAccount: 30,
  sessionMs: HOUR_MS,
};
const ANY = { model: null, provider: null, keys: null, workspace: null, end_user: null, session: null, protocol: null };

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/**
 * `folded`: how many steps were rolled up before the last calls arrived. `zone`: the account's zone at that time, in
 * which they are rolled up.
 */
function open(folded: number, zone: string | null = null): { reading: Database; calls: CallRecord[] } {
  const dataDir = newFolder();
  const path = databasePath(dataDir);
  const writer = openIngestRig(dataDir);
  closers.push(() => writer.close());
  writer.keepWrites([
    [{ sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 }],
  ]);
  const random = seededRandom(folded + 1);
  const calls = Array.from({ length: 600 }, (_, nth) =>
    randomCall(random, VARIETY, START_MS + Math.floor(((END_MS - START_MS) * nth) / 600), nth),
  );
  const late = calls.filter((_, nth) => nth % 17 === 3);
  fillCalls(
    writer,
    calls.filter((call) => !late.includes(call)),
  );
  for (let step = 0; step < folded; step++) writer.rollUp();
  fillCalls(writer, late);
  if (zone !== null) {
    const sql = "UPDATE account SET time_zone = ? WHERE id = 'default'";
    writer.keepWrites([[{ sql, parameters: [zone], changes: 1 }]]);
    writer.rollUp();
  }
  const reading = openReadConnection(path);
  closers.push(() => reading.close());
  return { reading, calls };
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const QUESTION: LogQuestion = {
  tenant: { account: 'default', workspaces: null },
  condition: ANY,
  outcome: null,
  fromMs: null,
  toMs: null,
  idPrefix: null,
  beforeId: null,
  limit: 40,
  withHistogram: false,
  timeMsMax: 5_000,
};

/** Page after page. A time limit of 0 shows that a page that ends early continues where it ended. */
function readAll(reading: Database, question: LogQuestion, paceMs: number): string[] {
  const ids: string[] = [];
  for (let beforeId: string | null = null; ; ) {
    const page = readLogs(reading, { ...question, beforeId }, startDeadline(paceMs), startDeadline(5_000));
    expect(page.calls.length).toBeLessThanOrEqual(question.limit);
    ids.push(...page.calls.map(({ request_id }) => request_id));
    if (page.next === null) return ids;
    expect(beforeId === null || page.next < beforeId).toBe(true);
    beforeId = page.next;
  }
}

const TRACE_ID = '0'.repeat(31).concat('a');

const CASES: readonly (readonly [string, Partial<LogQuestion>, (call: CallRecord) => boolean])[] = [
  ['all', {}, () => true],
  [
    'a range',
    { fromMs: START_MS + 50 * HOUR_MS + 1, toMs: END_MS - 70 * HOUR_MS },
    ({ at_ms }) => at_ms > START_MS + 50 * HOUR_MS && at_ms < END_MS - 70 * HOUR_MS,
  ],
  ['a model', { condition: { ...ANY, model: 'model-5' } }, ({ model }) => model === 'model-5'],
  [
    'a key and protocol',
    { condition: { ...ANY, keys: ['key_default_2'], protocol: 'chat' } },
    ({ key_id }) => key_id === 'key_default_2',
  ],
  ['an end user', { condition: { ...ANY, end_user: 'user-3' } }, ({ end_user }) => end_user === 'user-3'],
  [
    'an end user’s model',
    { condition: { ...ANY, end_user: 'user-3', model: 'model-0' } },
    ({ end_user, model }) => end_user === 'user-3' && model === 'model-0',
  ],
  ['no end user', { condition: { ...ANY, end_user: NONE } }, ({ end_user }) => end_user === null],
  [
    'no session, and keys of nobody',
    { condition: { ...ANY, session: NONE, keys: { except: ['key_default_1'] } } },
    ({ session, key_id }) => session === null && key_id !== 'key_default_1',
  ],
  ['faults', { outcome: 'server_error' }, ({ status, error }) => outcomeOf(status, error) === 'server_error'],
  ['cancelled calls', { outcome: 'cancelled' }, ({ error }) => error === 'client_left'],
  [
    'a workspace',
    { tenant: { account: 'default', workspaces: ['default-w0'] } },
    ({ workspace }) => workspace === 'default-w0',
  ],
  ['a trace', { traceId: TRACE_ID }, ({ trace_id }) => trace_id === TRACE_ID],
  [
    'a trace’s calls of a key',
    { traceId: TRACE_ID, condition: { ...ANY, keys: ['key_default_1'] } },
    ({ trace_id, key_id }) => trace_id === TRACE_ID && key_id === 'key_default_1',
  ],
  ['nothing that there is', { condition: { ...ANY, session: 'no such' } }, () => false],
];

describe.each([
  [0, null],
  [3, null],
  [50, null],
  [50, 'Asia/Tokyo'],
])('after %d steps of rolling up, and a change of zone to %s', (folded, zone) => {
  const opened = once(() => open(folded, zone));
  test.each([...CASES])('%s: every call once, newest first', (_, changes, isAsked) => {
    const { reading, calls } = opened();
    const expected = calls
      .filter((call) => call.account === 'default' && isAsked(call))
      .map(({ request_id }) => request_id);
    if (changes.traceId !== undefined) expect(expected.length).toBeGreaterThan(0);
    for (const paceMs of [5_000, -1])
      expect(readAll(reading, { ...QUESTION, ...changes }, paceMs)).toEqual(expected.toReversed());
  });

  test('the histogram counts the calls of the list', () => {
    const { reading, calls } = opened();
    for (const [changes, isAsked] of [
      [{ fromMs: START_MS, toMs: END_MS }, () => true],
      [{ fromMs: END_MS - 2 * HOUR_MS, toMs: END_MS }, ({ at_ms }: CallRecord) => at_ms >= END_MS - 2 * HOUR_MS],
      [
        { fromMs: START_MS, toMs: END_MS, condition: { ...ANY, end_user: 'user-3' } },
        ({ end_user }: CallRecord) => end_user === 'user-3',
      ],
    ] as const) {
      const question = { ...QUESTION, ...changes, withHistogram: true };
      const { histogram } = readLogs(reading, question, startDeadline(5_000), startDeadline(5_000));
      const own = calls.filter((call) => call.account === 'default' && isAsked(call));
      const sum = (member: 'requests' | 'errors') => histogram?.bars.reduce((total, bar) => total + bar[member], 0);
      expect(histogram?.bars.length).toBeLessThanOrEqual(60);
      expect(sum('requests')).toBe(own.length);
      expect(sum('errors')).toBe(own.filter(({ status, error }) => /_error$/.test(outcomeOf(status, error))).length);
    }
  });
});

const whole = once(() => open(50));

test('finds an id by its prefix, and a call by its own account and workspaces only', () => {
  const { reading, calls } = whole();
  const one = calls.find(({ account, workspace }) => account === 'default' && workspace === 'default');
  if (one === undefined) throw new Error('no call of the account');
  expect(readAll(reading, { ...QUESTION, idPrefix: one.request_id.slice(0, 33) }, 5_000)).toContain(one.request_id);
  expect(readAll(reading, { ...QUESTION, idPrefix: `${one.request_id}0` }, 5_000)).toEqual([]);
  const found = readCall(reading, { account: 'default', workspaces: ['default'] }, one.request_id);
  expect(found?.call).toEqual(one);
  expect(found?.entries.map(({ kind }) => kind)[0]).toBe('hold');
  expect(readCall(reading, { account: 'acme', workspaces: null }, one.request_id)).toBeNull();
  expect(readCall(reading, { account: 'default', workspaces: ['default-w0'] }, one.request_id)).toBeNull();
});

test('the tail contains the calls that ended since, long ones too', () => {
  const { reading, calls } = whole();
  const last = calls.findLast(({ account, trace_id }) => account === 'default' && trace_id !== null);
  if (last === undefined) throw new Error('no call of the account is in a trace');
  const traceId = last.trace_id ?? '';
  const nowMs = last.at_ms + last.duration_ms;
  const endedMs = nowMs - 10 * 60_000;
  const expected = calls
    .filter(({ account, at_ms, duration_ms }) => account === 'default' && at_ms + duration_ms >= endedMs)
    .map(({ request_id }) => request_id);
  const tail = readTail(reading, { ...QUESTION, endedMs, nowMs, limit: 200 });
  expect(tail.map(({ request_id }) => request_id).sort()).toEqual(expected.sort());
  const traced = readTail(reading, { ...QUESTION, traceId, endedMs, nowMs, limit: 200 });
  expect(traced).toEqual(tail.filter(({ trace_id }) => trace_id === traceId));
  expect(traced.length).toBeWithin(1, tail.length);
});

test('lists a call that ran for hours as soon as it ends, also where no call of the account is older', () => {
  const dataDir = newFolder();
  const writer = openIngestRig(dataDir);
  closers.push(() => writer.close());
  const random = seededRandom(1);
  const callAt = (hoursAgo: number, nth: number) =>
    randomCall(random, { ...VARIETY, accounts: ['default'] }, Date.now() - hoursAgo * HOUR_MS, nth);
  const [long, short] = [callAt(20, 1), callAt(0.5, 2)];
  fillCalls(writer, [short]);
  writer.rollUp();
  fillCalls(writer, [long]);
  const reading = openReadConnection(databasePath(dataDir));
  closers.push(() => reading.close());
  expect(readAll(reading, QUESTION, 5_000)).toEqual([short.request_id, long.request_id]);
});
