/** Tests queries over random records: every term and order gives what a plain filter and sort in memory give. */
import type { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CallOrder, SORTS } from '../../../lib/query/call-order.ts';
import type { QueryField, QueryTerm, RangeTest } from '../../../lib/query/call-query.ts';
import type { CallRecord } from '../../ports/records.ts';
import {
  type CallPlace,
  type LogQuestion,
  type UsageGroup,
  type UsageQuestion,
  UsageRefusal,
} from '../../ports/usage.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection, openWriteConnection } from '../database/connection.ts';
import { outcomeOf } from '../rollup/tally.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { openIngestRig } from '../testing/ingest-rig.ts';
import { readLogs, readTail } from '../usage/read-logs.ts';
import { readUsage } from '../usage/read-usage.ts';
import { startDeadline } from '../usage/scan-records.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2025, 2, 1);
/** Several chunks of each account, and records that are in none: of whole blocks, and those that wait. */
const CALLS = 400;
const CHUNKED = 320;
const ROLLED = 350;
const CHUNK_ROWS = 32;
const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const SEED = process.env.TOLLGATE_SEED;
const seeded = (numRuns: number) => ({ numRuns, ...(SEED !== undefined && { seed: Number(SEED) }) });
const STEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 4,
  models: 8,
  endUsersPerAccount: 5,
  sessionMs: STEP_MS,
};
const QUESTION: LogQuestion = {
  tenant: { account: 'default', workspaces: null },
  condition: {
    model: null,
    provider: null,
    keys: null,
    workspace: null,
    end_user: null,
    session: null,
    protocol: null,
  },
  outcome: null,
  fromMs: null,
  toMs: null,
  idPrefix: null,
  beforeId: null,
  limit: 50,
  withHistogram: false,
  timeMsMax: 5_000,
};

let reading: Database;
let folder: string;
let made: readonly CallRecord[];
let calls: readonly CallRecord[];
const closers: (() => void)[] = [];
beforeAll(() => {
  const dataDir = newFolder();
  folder = dataDir;
  const writer = openIngestRig(dataDir, undefined, { chunkRows: CHUNK_ROWS });
  writer.keepWrites([
    [{ sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 }],
  ]);
  const random = seededRandom(7);
  made = Array.from({ length: CALLS }, (_, nth) => ({
    ...randomCall(random, VARIETY, START_MS + nth * STEP_MS, nth),
    usage_flags: nth % 9 === 0 ? (['sum', 'far_output'] as const) : null,
    served_model: nth % 4 === 0 ? null : `served-${nth % 3}`,
    stream: nth % 2 === 0,
  }));
  // Some requests end long after others that came later.
  const late = (_: CallRecord, nth: number) => nth % 50 === 0;
  const inTime = made.filter((one, nth) => !late(one, nth));
  for (let nth = 0; nth < CHUNKED; nth += 10) fillCalls(writer, inTime.slice(nth, nth + 10));
  fillCalls(writer, made.filter(late));
  writer.chunk();
  fillCalls(writer, inTime.slice(CHUNKED, ROLLED));
  writer.rollUp();
  fillCalls(writer, inTime.slice(ROLLED));
  reading = openReadConnection(databasePath(dataDir));
  closers.push(
    () => writer.close(),
    () => reading.close(),
  );
  calls = made.filter(({ account }) => account === 'default').reverse();
});
afterAll(() => {
  for (const close of closers.splice(0).reverse()) close();
});

type Value = string | number | bigint | null;

const inputOf = ({ usage }: CallRecord) => usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;

/** What each field means, written apart from the store. */
const VALUES: Readonly<Record<Exclude<QueryField, 'member' | 'tag'>, (call: CallRecord) => Value | readonly string[]>> =
  {
    key: ({ key_id }) => key_id,
    model: ({ model }) => model,
    served: ({ served_model }) => served_model,
    provider: ({ provider }) => provider,
    workspace: ({ workspace }) => workspace,
    user: ({ end_user }) => end_user,
    session: ({ session }) => session,
    protocol: ({ protocol }) => protocol,
    stream: ({ stream }) => (stream ? 'yes' : 'no'),
    status: ({ status }) => status,
    outcome: ({ status, error }) => outcomeOf(status, error),
    reason: ({ reason }) => reason?.kind ?? null,
    error: ({ error }) => error,
    cost: ({ cost_nano_usd: cost }) => (cost === null ? null : BigInt(cost)),
    tokens: (call) => inputOf(call) + call.usage.output,
    input: inputOf,
    output: ({ usage }) => usage.output,
    cache: ({ usage }) => usage.cache_read,
    cached: ({ cached_from }) => (cached_from === undefined ? 'no' : 'yes'),
    ttft: ({ ttfb_ms }) => ttfb_ms,
    duration: ({ duration_ms }) => duration_ms,
    tps: ({ usage, duration_ms: ms }) => (usage.output > 0 && ms > 0 ? (usage.output * 1_000) / ms : null),
    attempts: ({ attempts }) => attempts.length,
    flag: ({ usage_flags }) => usage_flags,
    trace: ({ trace_id }) => trace_id ?? null,
    id: ({ request_id }) => request_id,
  };

function meets(call: CallRecord, { field, isNot, texts, ranges }: QueryTerm): boolean {
  const value = VALUES[field as Exclude<QueryField, 'member' | 'tag'>](call);
  const values = Array.isArray(value) ? (value as readonly string[]) : [value as Value];
  const isText = (one: Value) =>
    texts.some((test) =>
      test === null
        ? one === null
        : one !== null && (test.isPrefix ? String(one).startsWith(test.text) : String(one) === test.text),
    );
  const isWithin = (one: Value) =>
    one !== null &&
    ranges.some(({ from, to, isOpen }: RangeTest) => {
      const number = one as number | bigint;
      return isOpen
        ? (from === null || number > from) && (to === null || number < to)
        : (from === null || number >= from) && (to === null || number <= to);
    });
  return values.some((one) => isText(one) || isWithin(one)) !== isNot;
}

const FIELDS = Object.keys(VALUES) as (keyof typeof VALUES)[];

/** Terms whose values occur in the records, and some that do not. */
const anyTerm: fc.Arbitrary<QueryTerm> = fc
  .record({
    field: fc.constantFrom(...FIELDS),
    isNot: fc.boolean(),
    nth: fc.nat(CALLS),
    cut: fc.nat(8),
    form: fc.nat(5),
  })
  .map(({ field, isNot, nth, cut, form }) => {
    const found = VALUES[field](calls[nth % calls.length] as CallRecord);
    const value = Array.isArray(found) ? (found[0] as string) : (found as Value);
    if (value === null || form === 0) return { field, isNot, texts: [null], ranges: [] };
    if (typeof value === 'string') {
      const isPrefix = form > 2;
      const text = isPrefix ? value.slice(0, Math.max(1, value.length - cut)) : form === 2 ? `${value}!` : value;
      return { field, isNot, texts: [{ text, isPrefix }], ranges: [] };
    }
    const bounds = form % 2 === 0 ? { from: value, to: null } : { from: null, to: value };
    return { field, isNot, texts: [], ranges: [{ ...bounds, isOpen: form > 2 }] };
  });

/** A pace of 0 ends each page at once: it continues where it ended. */
function readPages(
  question: Partial<LogQuestion>,
  order: CallOrder | undefined,
  limit: number,
  paceMs = 5_000,
): string[] {
  const ids: string[] = [];
  let beforeId: string | null = null;
  let afterPlace: CallPlace | undefined;
  for (;;) {
    const place = order === undefined ? { beforeId } : { order, ...(afterPlace && { afterPlace }) };
    const page = readLogs(
      reading,
      { ...QUESTION, ...question, limit, ...place },
      startDeadline(paceMs),
      startDeadline(5_000),
    );
    ids.push(...page.calls.map(({ request_id }) => request_id));
    if (order === undefined) beforeId = page.next;
    else afterPlace = page.nextPlace ?? undefined;
    if (order === undefined ? page.next === null : afterPlace === undefined) return ids;
  }
}

const idsOf = (list: readonly CallRecord[]) => list.map(({ request_id }) => request_id);

test('records are in chunks, in several blocks after the mark, and wait for a chunk', () => {
  const count = (from: string) =>
    reading.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${from}`).get()?.rows ?? 0;
  expect(count("record_chunk WHERE account = 'default'")).toBeGreaterThan(3);
  expect(count('record_waiting')).toBeGreaterThan(0);
  expect(count('call_record WHERE block > (SELECT block FROM chunked_through)')).toBeGreaterThan(20);
});

test('records that meet all terms are listed, each once and newest first', () => {
  fc.assert(
    fc.property(fc.array(anyTerm, { maxLength: 3 }), fc.integer({ min: 5, max: 60 }), (terms, limit) => {
      const expected = idsOf(calls.filter((call) => terms.every((term) => meets(call, term))));
      expect(readPages({ terms }, undefined, limit)).toEqual(expected);
      expect(readPages({ terms }, undefined, limit, -1)).toEqual(expected);
    }),
    seeded(EXHAUSTIVE ? 300 : 20),
  );
});

test.each(SORTS)('by %s, both ways, each record is listed once over all pages', (by) => {
  const sortedBy = by === 'key' ? ({ key_name }: CallRecord) => key_name : VALUES[by];
  fc.assert(
    fc.property(
      fc.array(anyTerm, { maxLength: 1 }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      (terms, limit, isDescending) => {
        const sign = isDescending ? -1 : 1;
        const compare = (one: Value, other: Value) => (one === other ? 0 : (one ?? 0) < (other ?? 0) ? -1 : 1);
        const expected = calls
          .filter((call) => terms.every((term) => meets(call, term)))
          .sort((one, other) => {
            const [left, right] = [sortedBy(one) as Value, sortedBy(other) as Value];
            if ((left === null) !== (right === null)) return left === null ? 1 : -1;
            return sign * (compare(left, right) || compare(one.request_id, other.request_id));
          });
        expect(readPages({ terms }, { by, isDescending }, limit)).toEqual(idsOf(expected));
      },
    ),
    seeded(EXHAUSTIVE ? 12 : 2),
  );
});

test('the histogram and the tail count what the list has', () => {
  const terms: readonly QueryTerm[] = [
    { field: 'duration', isNot: false, texts: [], ranges: [{ from: 9_000, to: null, isOpen: true }] },
  ];
  const expected = calls.filter((call) => terms.every((term) => meets(call, term)));
  const question = { ...QUESTION, terms, fromMs: START_MS, toMs: START_MS + CALLS * STEP_MS, withHistogram: true };
  const { histogram } = readLogs(reading, question, startDeadline(5_000), startDeadline(5_000));
  expect(histogram?.bars.reduce((sum, { requests }) => sum + requests, 0)).toBe(expected.length);
  const nowMs = START_MS + CALLS * STEP_MS;
  const tail = readTail(reading, { ...QUESTION, terms, endedMs: nowMs - STEP_MS, nowMs, limit: 50 });
  expect(tail.every(({ duration_ms }) => duration_ms > 9_000)).toBe(true);
});

const USAGE: Omit<UsageQuestion, 'tenant' | 'condition'> = {
  ...{ fromMs: START_MS, toMs: START_MS + CALLS * STEP_MS, buckets: [START_MS], timeZone: 'UTC' },
  ...{ by: ['model'], owners: null, latencies: 'none', rankedBy: 'cost', drawn: 8, timeMsMax: 5_000 },
};

const usageOf = (changes: Partial<UsageQuestion>) =>
  readUsage(reading, { ...QUESTION, ...USAGE, ...changes }, startDeadline(5_000));

/** Requests and cost by model, of a usage answer and of records. */
const summedBy = (groups: readonly UsageGroup[]): Readonly<Record<string, readonly [number, bigint]>> =>
  Object.fromEntries(groups.map(({ values: [model], sums }) => [String(model), [sums.requests, sums.cost] as const]));
function recordsBy(records: readonly CallRecord[]): Readonly<Record<string, readonly [number, bigint]>> {
  const sums: Record<string, readonly [number, bigint]> = {};
  for (const { model, cost_nano_usd } of records) {
    const [requests, cost] = sums[String(model)] ?? [0, 0n];
    sums[String(model)] = [requests + 1, cost + BigInt(cost_nano_usd ?? 0)];
  }
  return sums;
}

test('usage of a query sums exactly the records that the query lists', () => {
  fc.assert(
    fc.property(fc.array(anyTerm, { minLength: 1, maxLength: 3 }), (terms) => {
      const expected = calls.filter((call) => terms.every((term) => meets(call, term)));
      expect(summedBy(usageOf({ terms }).groups)).toEqual(recordsBy(expected));
    }),
    seeded(EXHAUSTIVE ? 200 : 15),
  );
});

test('only records of the tenant are listed and counted, whatever the terms and the order', () => {
  const everyone: QueryTerm = { field: 'id', isNot: true, texts: [null], ranges: [] };
  for (const order of [undefined, { by: 'cost', isDescending: true }] as const) {
    for (const [account, workspaces] of [
      ['acme', null],
      ['acme', ['acme-w0']],
      ['acme', ['default-w0']],
      ['acme', []],
      ['nobody', null],
    ] as const) {
      const page = readLogs(
        reading,
        {
          ...{ ...QUESTION, tenant: { account, workspaces }, terms: [everyone], limit: CALLS, withHistogram: true },
          ...{ fromMs: START_MS, toMs: START_MS + CALLS * STEP_MS, ...(order && { order }) },
        },
        startDeadline(5_000),
        startDeadline(5_000),
      );
      const own = made.filter(
        (call) => call.account === account && (workspaces?.includes(call.workspace as never) ?? true),
      );
      expect(idsOf(page.calls).sort()).toEqual(idsOf(own).sort());
      expect(page.histogram?.bars.reduce((sum, { requests }) => sum + requests, 0)).toBe(own.length);
    }
  }
});

test('filters without terms, and a range of time, list what the terms list', () => {
  const [sample] = calls.filter(({ session, model }) => session !== null && model !== null);
  if (sample === undefined) throw new Error('no request has a session');
  const { model, provider, session, key_id } = sample;
  const conditions: readonly [Partial<LogQuestion['condition']>, (call: CallRecord) => boolean][] = [
    [{ model }, (call) => call.model === model],
    [{ model: '' }, (call) => call.model === null],
    [{ provider }, (call) => call.provider === provider],
    [{ session }, (call) => call.session === session],
    [{ session: '' }, (call) => call.session === null],
    [{ keys: [key_id] }, (call) => call.key_id === key_id],
    [{ keys: { except: [key_id] } }, (call) => call.key_id !== key_id],
    [{ keys: [] }, () => false],
  ];
  for (const [condition, isMet] of conditions) {
    for (const [fromMs, toMs] of [
      [null, null],
      [START_MS + 40 * STEP_MS, START_MS + 333 * STEP_MS],
    ] as const) {
      const isIn = ({ at_ms }: CallRecord) => at_ms >= (fromMs ?? 0) && at_ms < (toMs ?? Number.MAX_SAFE_INTEGER);
      const question = { condition: { ...QUESTION.condition, ...condition }, fromMs, toMs };
      expect(readPages(question, undefined, 60)).toEqual(idsOf(calls.filter((call) => isMet(call) && isIn(call))));
    }
  }
});

test('with too many records outside chunks the rows are read, with the same result', () => {
  const writer = openWriteConnection(databasePath(folder));
  const fill = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
    INSERT INTO record_waiting SELECT 'default', 'x' || i FROM n`;
  const terms: readonly QueryTerm[] = [
    { field: 'outcome', isNot: true, texts: [{ text: 'ok', isPrefix: false }], ranges: [] },
  ];
  const order = { by: 'duration', isDescending: false } as const;
  // Longer ranges are refused there: their records would be read one by one.
  const toMs = START_MS + 6 * DAY_MS;
  const read = () => [
    readPages({ terms }, undefined, 30),
    readPages({ terms }, order, 100),
    summedBy(usageOf({ terms, toMs }).groups),
  ];
  const before = read();
  writer.run(fill);
  try {
    expect(read()).toEqual(before);
    expect(() => usageOf({ terms })).toThrow(UsageRefusal);
  } finally {
    writer.run("DELETE FROM record_waiting WHERE request_id LIKE 'x%'");
    writer.close();
  }
});

test('an order over more than the time allows is refused', () => {
  const order = { by: 'cost', isDescending: true } as const;
  expect(() => readLogs(reading, { ...QUESTION, order }, startDeadline(-1), startDeadline(-1))).toThrow(UsageRefusal);
});
