/** Tests lists of sessions against sums over the records, for chunks at any progress, filters, tenants and pages. */
import type { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import type { SessionSums, SessionsQuestion } from '../../ports/calls/sessions.ts';
import type { CallRecord } from '../../ports/records.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { outcomeOf } from '../rollup/tally.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { openIngestRig } from '../testing/ingest-rig.ts';
import { startDeadline } from '../usage/scan-records.ts';
import { readSessions } from './read-sessions.ts';

const newFolder = temporaryFolders();
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 2, 1);
const CALLS = 900;
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 5,
  models: 8,
  endUsersPerAccount: 30,
  sessionMs: 12 * HOUR_MS,
};
const ANY = { model: null, provider: null, keys: null, workspace: null, end_user: null, session: null, protocol: null };
const HOSTILE = "x'; DROP TABLE call_record; -- \u0000<b>會話";

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/** `chunked`: how many of the calls may be in chunks. One session is in all calls of a quarter of the time. */
function open(chunked: number): { reading: Database; calls: readonly CallRecord[] } {
  const dataDir = newFolder();
  const writer = openIngestRig(dataDir, undefined, { chunkRows: 32 });
  closers.push(() => writer.close());
  writer.keepWrites([
    [{ sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 }],
  ]);
  const random = seededRandom(5);
  const calls = Array.from({ length: CALLS }, (_, nth) => {
    const call = randomCall(random, VARIETY, START_MS + nth * 0.4 * HOUR_MS, nth);
    return nth % 9 === 4 ? { ...call, session: 'long run' } : nth % 97 === 1 ? { ...call, session: HOSTILE } : call;
  });
  fillCalls(writer, calls.slice(0, chunked));
  writer.chunk();
  fillCalls(writer, calls.slice(chunked));
  const reading = openReadConnection(databasePath(dataDir));
  closers.push(() => reading.close());
  return { reading, calls };
}

const QUESTION: SessionsQuestion = {
  tenant: { account: 'default', workspaces: null },
  condition: ANY,
  outcome: null,
  fromMs: null,
  toMs: null,
  idPrefix: null,
  beforeId: null,
  limit: 7,
  timeMsMax: 5_000,
};

function readAll(reading: Database, question: SessionsQuestion): SessionSums[] {
  const all: SessionSums[] = [];
  for (let beforeId: string | null = null; ; ) {
    const { sessions, next } = readSessions(reading, { ...question, beforeId }, startDeadline(5_000));
    expect(sessions.length).toBeLessThanOrEqual(question.limit);
    all.push(...sessions);
    if (next === null) return all;
    beforeId = next;
  }
}

/** What the list says of these calls. */
function expected(calls: readonly CallRecord[]): SessionSums[] {
  const named = Map.groupBy(
    calls.filter(({ session }) => session !== null),
    ({ session }) => session ?? '',
  );
  const total = (own: readonly CallRecord[], tokens: (call: CallRecord) => number) =>
    own.reduce((sum, call) => sum + tokens(call), 0);
  const sums = [...named].map(([session, own]) => ({
    session,
    firstMs: Math.min(...own.map(({ at_ms }) => at_ms)),
    endMs: Math.max(...own.map(({ at_ms, duration_ms }) => at_ms + duration_ms)),
    lastId:
      own
        .map(({ request_id }) => request_id)
        .sort()
        .at(-1) ?? '',
    requests: own.length,
    errors: own.filter(({ status, error }) => outcomeOf(status, error).endsWith('_error')).length,
    cost: own.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? 0), 0n),
    unpriced: own.filter(({ cost_nano_usd }) => cost_nano_usd === null).length,
    input: total(own, ({ usage }) => usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h),
    cacheRead: total(own, ({ usage }) => usage.cache_read),
    output: total(own, ({ usage }) => usage.output),
    models: [...new Set(own.flatMap(({ model }) => model ?? []))].sort(),
    keys: [...new Set(own.map(({ key_name }) => key_name))].sort(),
  }));
  return sums.sort((one, other) => (one.lastId < other.lastId ? 1 : -1));
}

const CASES: readonly (readonly [string, Partial<SessionsQuestion>, (call: CallRecord) => boolean])[] = [
  ['all of an account', {}, ({ account }) => account === 'default'],
  ['another account', { tenant: { account: 'acme', workspaces: null } }, ({ account }) => account === 'acme'],
  [
    'some workspaces',
    { tenant: { account: 'acme', workspaces: ['acme-w1', 'default'] } },
    ({ account, workspace }) => account === 'acme' && workspace === 'acme-w1',
  ],
  [
    'a range, which cuts sessions',
    { fromMs: START_MS + 50 * HOUR_MS + 1, toMs: START_MS + 200 * HOUR_MS },
    ({ account, at_ms }) =>
      account === 'default' && at_ms > START_MS + 50 * HOUR_MS && at_ms < START_MS + 200 * HOUR_MS,
  ],
  [
    'a model and an outcome',
    { condition: { ...ANY, model: 'model-0' }, outcome: 'ok' },
    ({ account, model, status, error }) =>
      account === 'default' && model === 'model-0' && outcomeOf(status, error) === 'ok',
  ],
  [
    'a trace, which no chunk can answer',
    { traceId: '0'.repeat(31).concat('a') },
    ({ account, trace_id }) => account === 'default' && trace_id === '0'.repeat(31).concat('a'),
  ],
  [
    'one session',
    { condition: { ...ANY, session: 'long run' } },
    ({ account, session }) => account === 'default' && session === 'long run',
  ],
  ['no such session', { condition: { ...ANY, session: 'long' } }, () => false],
];

describe.each([0, 500, CALLS])('with %d calls chunked', (chunked) => {
  let made: ReturnType<typeof open> | undefined;
  const opened = () => {
    made ??= open(chunked);
    return made;
  };
  test.each(CASES)('lists the sessions of %s', (_, changes, isIn) => {
    const { reading, calls } = opened();
    expect(readAll(reading, { ...QUESTION, ...changes })).toEqual(expected(calls.filter(isIn)));
  });

  test('pages of one session and one page of all list the same', () => {
    const { reading } = opened();
    const all = readAll(reading, { ...QUESTION, limit: 1_000 });
    expect(all.length).toBeGreaterThan(20);
    expect(readAll(reading, { ...QUESTION, limit: 1 })).toEqual(all);
    expect(all.map(({ session }) => session)).toContain(HOSTILE);
  });
});
