/**
 * Tests that sums match the records at every moment: at any progress of the rollup, in every zone, for every grouping.
 */

import type { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { windowAt } from '../../../admission/window.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallRecord } from '../../ports/records.ts';
import {
  type CallCondition,
  NONE,
  type ProofQuestion,
  type UsageAnswer,
  type UsageBuckets,
  type UsageDimension,
  type UsageQuestion,
  type UsageRank,
  type UsageSums,
} from '../../ports/usage.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection, openWriteConnection } from '../database/connection.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
import { proveUsage } from './prove-usage.ts';
import { readUsage } from './read-usage.ts';
import { startDeadline } from './scan-records.ts';

const newFolder = temporaryFolders();
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 5,
  models: 8,
  endUsersPerAccount: 20,
  sessionMs: 3_600_000,
};
const ANY: CallCondition = {
  model: null,
  provider: null,
  keys: null,
  workspace: null,
  end_user: null,
  session: null,
  protocol: null,
};
const HOUR_MS = 3_600_000;
/** Calls of the test over the most calls; those of the others are a few hundred. */
const CALLS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 10_000 : 2_000;
/** Clocks go forward in Berlin on the 30th; in Lord Howe back by half an hour on April 6. */
const START_MS = Date.UTC(2025, 2, 28, 21, 7, 13, 456);
const END_MS = START_MS + 10 * 24 * HOUR_MS;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

interface Opened {
  readonly writer: IngestRig;
  readonly reading: Database;
  readonly path: string;
}

function open(timeZone: string): Opened {
  const dataDir = newFolder();
  const path = databasePath(dataDir);
  const writer = openIngestRig(dataDir);
  closers.push(() => writer.close());
  const zones = [
    { sql: "UPDATE account SET time_zone = ? WHERE id = 'default'", parameters: [timeZone], changes: 1 },
    { sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 },
  ];
  expect(writer.keepWrites([zones])).toBe(true);
  const reading = openReadConnection(path);
  closers.push(() => reading.close());
  return { writer, reading, path };
}

function randomCalls(count: number, seed: number): CallRecord[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, nth) => {
    // Some exactly at the edges of quarters, hours and days.
    const anywhere = START_MS + Math.floor(((END_MS - START_MS) * nth) / count);
    const edge = Math.ceil(anywhere / HOUR_MS) * HOUR_MS - (nth % 2);
    return randomCall(random, VARIETY, nth % 10 === 0 && edge < END_MS ? edge : anywhere, nth);
  });
}

/** The result of a simple loop over records; without percentiles. */
function sumOf(calls: readonly CallRecord[]) {
  const plain = { requests: calls.length, unpriced: 0, input: 0, cache_read: 0, output: 0, reasoning: 0, cost: 0n };
  for (const { usage, cost_nano_usd } of calls) {
    plain.input += usage.input;
    plain.cache_read += usage.cache_read;
    plain.output += usage.output;
    plain.reasoning += usage.reasoning;
    if (cost_nano_usd === null) plain.unpriced += 1;
    else plain.cost += BigInt(cost_nano_usd);
  }
  return plain;
}

function plainOf(sums: UsageSums | null | undefined) {
  if (sums === null || sums === undefined) return sumOf([]);
  const { requests, unpriced, input, cache_read, output, reasoning, cost } = sums;
  return { requests, unpriced, input, cache_read, output, reasoning, cost };
}

function daysOf(timeZone: string, fromMs: number, toMs: number): number[] {
  const days: number[] = [];
  for (let at = windowAt('day', timeZone, fromMs).startMs; at < toMs; ) {
    days.push(at);
    at = windowAt('day', timeZone, at).endMs ?? toMs;
  }
  return days;
}

function hoursOf(fromMs: number, toMs: number, stepMs = HOUR_MS): number[] {
  const hours: number[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) hours.push(at);
  return hours;
}

function questionOf(changes: Partial<UsageQuestion>): UsageQuestion {
  const fromMs = changes.fromMs ?? START_MS;
  return {
    tenant: { account: 'default', workspaces: null },
    condition: ANY,
    fromMs,
    toMs: END_MS,
    buckets: [fromMs],
    timeZone: 'UTC',
    by: [],
    owners: null,
    latencies: 'buckets',
    rankedBy: 'cost',
    drawn: 100,
    timeMsMax: 10_000,
    ...changes,
  };
}

const lastOf = (calls: readonly CallRecord[]) => Math.max(...calls.map(({ at_ms }) => at_ms));

const VALUE_OF: Readonly<Record<UsageDimension, (call: CallRecord) => string | null>> = {
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  key: ({ key_id }) => key_id,
  member: ({ key_id }) => (key_id.endsWith('1') ? 'ann' : null),
  workspace: ({ workspace }) => workspace,
  end_user: ({ end_user }) => end_user,
  session: ({ session }) => session,
  protocol: ({ protocol }) => protocol,
  tag: ({ key_id }) => (key_id.endsWith('2') ? 'web' : null),
};

const AMOUNT_OF: Readonly<Record<UsageRank, (sums: UsageSums) => bigint>> = {
  cost: ({ cost }) => cost,
  cache_savings: ({ cacheSavings }) => cacheSavings,
  requests: ({ requests }) => BigInt(requests),
  errors: ({ clientErrors, serverErrors }) => BigInt(clientErrors + serverErrors),
  tokens: (sums) => BigInt(sums.input + sums.cache_read + sums.cache_write_5m + sums.cache_write_1h + sums.output),
};

/** Checks a result against the records, group by group and bucket by bucket. */
function judge(reading: Database, question: UsageQuestion, calls: readonly CallRecord[]): UsageAnswer {
  const { tenant, fromMs, toMs, buckets, by, rankedBy } = question;
  const drawn = by.length === 0 ? 0 : question.drawn;
  const asked = calls.filter(
    ({ account, at_ms, workspace }) =>
      account === tenant.account && at_ms >= fromMs && at_ms < toMs && (tenant.workspaces?.includes(workspace) ?? true),
  );
  const answer = readUsage(reading, question, startDeadline(10_000));
  const nameOf = (call: CallRecord) => JSON.stringify(by.map((one) => VALUE_OF[one](call)));
  const groups = Map.groupBy(asked, nameOf);
  const judgeBuckets = (found: UsageBuckets | null, own: readonly CallRecord[]) => {
    expect(found?.length).toBe(buckets.length);
    for (const [index, startMs] of buckets.entries()) {
      const endMs = buckets[index + 1] ?? Number.POSITIVE_INFINITY;
      const inBucket = own.filter(({ at_ms }) => at_ms >= startMs && at_ms < endMs);
      if (inBucket.length === 0) expect(found?.[index]).toBeNull();
      else expect(plainOf(found?.[index])).toEqual(sumOf(inBucket));
    }
  };
  expect(plainOf(answer.total)).toEqual(sumOf(asked));
  judgeBuckets(answer.totals, asked);
  expect(answer.groups.length).toBe(Math.min(100, groups.size));
  const names = answer.groups.map(({ values }) => JSON.stringify(values));
  for (const [nth, { sums, buckets: found }] of answer.groups.entries()) {
    const own = groups.get(names[nth] ?? '') ?? [];
    expect(plainOf(sums)).toEqual(sumOf(own));
    if (nth < drawn) judgeBuckets(found, own);
    else expect(found).toBeNull();
  }
  const amounts = answer.groups.map(({ sums }) => AMOUNT_OF[rankedBy](sums));
  expect(amounts).toEqual(amounts.toSorted((one, other) => (one > other ? -1 : one < other ? 1 : 0)));
  const beyond = (shown: readonly string[]) => asked.filter((call) => !shown.includes(nameOf(call)));
  const [rest, others] = [beyond(names), beyond(names.slice(0, drawn))];
  if (rest.length === 0) expect(answer.rest).toBeNull();
  else expect(plainOf(answer.rest)).toEqual(sumOf(rest));
  if (others.length === 0 || by.length === 0) expect(answer.others).toBeNull();
  else judgeBuckets(answer.others, others);
  return answer;
}

describe('sums are those of the records', () => {
  test.each(['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/St_Johns'])(
    'by days, hours and quarters of %s, wherever the range begins',
    (timeZone) => {
      const { writer, reading } = open(timeZone);
      const calls = randomCalls(1_500, 5);
      fillCalls(writer, calls);
      writer.rollUp();
      const middle = Math.floor((START_MS + END_MS) / 2);
      for (const [fromMs, toMs] of [
        [START_MS, END_MS],
        [START_MS + 12_345_678, middle],
        [middle, middle + 400_000],
        [windowAt('day', timeZone, middle).startMs, END_MS - 98_765],
      ] as const) {
        const common = { fromMs, toMs, timeZone };
        judge(reading, questionOf({ ...common, by: ['model'] }), calls);
        judge(
          reading,
          questionOf({ ...common, buckets: daysOf(timeZone, fromMs, toMs), by: ['key', 'protocol'] }),
          calls,
        );
        judge(reading, questionOf({ ...common, buckets: hoursOf(fromMs, toMs), by: ['provider'] }), calls);
        judge(reading, questionOf({ ...common, buckets: daysOf(timeZone, fromMs, toMs), by: ['session'] }), calls);
      }
    },
  );

  test('at any progress of the rollup, and with late calls', () => {
    const { writer, reading } = open('Europe/Berlin');
    const calls = randomCalls(900, 11);
    // Long calls: arrived with the others, stored after all of them.
    const late = calls.filter((_, nth) => nth % 13 === 5);
    fillCalls(
      writer,
      calls.filter((call) => !late.includes(call)),
    );
    const known = calls.filter((call) => !late.includes(call));
    const inZone = { timeZone: 'Europe/Berlin' };
    for (const isRolled of [false, true]) {
      if (isRolled) writer.rollUp();
      judge(
        reading,
        questionOf({ ...inZone, buckets: daysOf('Europe/Berlin', START_MS, END_MS), by: ['workspace'] }),
        known,
      );
      for (const minutes of [0, 1, 3, 7]) {
        judge(reading, questionOf({ toMs: lastOf(known) - 60_000 * minutes, by: ['model'], drawn: 2 }), known);
      }
    }
    fillCalls(writer, late);
    for (const isRolled of [false, true]) {
      if (isRolled) writer.rollUp();
      for (const minutes of [0, 1, 3, 7]) {
        judge(reading, questionOf({ toMs: lastOf(known) - 60_000 * minutes, by: ['key'] }), calls);
      }
      judge(reading, questionOf({ ...inZone, by: ['end_user'] }), calls);
      judge(reading, questionOf({ ...inZone, by: ['model', 'key'] }), calls);
    }
  });

  test('calls after the range count in none of its sums, although the whole quarter is read', () => {
    const { writer, reading } = open('UTC');
    const quarterMs = Math.floor(END_MS / 900_000) * 900_000;
    const calls = randomCalls(60, 31).map((call, nth) => ({
      ...call,
      account: 'default',
      at_ms: quarterMs + nth * 10_000,
      request_id: `${requestIdFloor(quarterMs + nth * 10_000)}${`${nth}`.padStart(20, '0')}`,
      end_user: nth < 55 ? `user-${nth % 4}` : 'newcomer',
      key_id: nth < 55 ? call.key_id : 'key_of_newcomer',
    }));
    fillCalls(writer, calls);
    writer.rollUp();
    const toMs = quarterMs + 550_000;
    for (const by of [['end_user'], ['key'], ['end_user', 'workspace'], []] as const) {
      judge(reading, questionOf({ fromMs: quarterMs - HOUR_MS, toMs, by, drawn: 2 }), calls);
    }
  });

  test('after a change of the account’s time zone, days follow the new one', () => {
    const { writer, reading } = open('Europe/Berlin');
    const calls = randomCalls(600, 3);
    fillCalls(writer, calls);
    writer.rollUp();
    const zone = {
      sql: "UPDATE account SET time_zone = 'Asia/Tokyo' WHERE id = 'default'",
      parameters: [],
      changes: 1,
    };
    expect(writer.keepWrites([[zone]])).toBe(true);
    const question = {
      buckets: daysOf('Asia/Tokyo', START_MS, END_MS),
      timeZone: 'Asia/Tokyo',
      by: ['model'],
    } as const;
    judge(reading, questionOf(question), calls);
    const more = randomCalls(700, 3).slice(600);
    fillCalls(writer, more);
    writer.rollUp();
    judge(reading, questionOf(question), [...calls, ...more]);
    judge(reading, questionOf({ ...question, by: ['session'] }), [...calls, ...more]);
  });

  test.each(['cost', 'requests', 'tokens', 'errors', 'cache_savings'] as const)(
    'ranked by %s: the first groups by bucket, the others together',
    (rankedBy) => {
      const { writer, reading } = open('UTC');
      const calls = randomCalls(1_200, 17);
      fillCalls(writer, calls);
      for (const fold of [false, true]) {
        if (fold) writer.rollUp();
        for (const by of [['model'], ['key', 'protocol'], ['session'], ['end_user', 'workspace'], []] as const) {
          const question = questionOf({ by, rankedBy, drawn: 3, buckets: daysOf('UTC', START_MS, END_MS) });
          const { groups } = judge(reading, question, calls);
          const all = readUsage(reading, { ...question, drawn: 0, rankedBy: 'cost' }, startDeadline(10_000)).groups;
          const most = all
            .map(({ sums }) => AMOUNT_OF[rankedBy](sums))
            .reduce((one, other) => (one > other ? one : other));
          expect(groups[0] === undefined ? null : AMOUNT_OF[rankedBy](groups[0].sums)).toBe(most);
        }
      }
    },
  );

  test('of more than a hundred groups, the rest is summed up', () => {
    const { writer, reading } = open('UTC');
    const calls = randomCalls(1_200, 9).map((call, nth) => ({
      ...call,
      account: 'default',
      session: `s${nth % 150}`,
      model: `m${nth % 130}`,
    }));
    fillCalls(writer, calls);
    for (const fold of [false, true]) {
      if (fold) writer.rollUp();
      judge(reading, questionOf({ by: ['session'], buckets: daysOf('UTC', START_MS, END_MS) }), calls);
      judge(reading, questionOf({ by: ['model'], buckets: daysOf('UTC', START_MS, END_MS), drawn: 5 }), calls);
    }
  });

  test('a filter selects its calls, and a workspace sees only its own', () => {
    const { writer, reading } = open('UTC');
    const calls = randomCalls(800, 21);
    fillCalls(writer, calls);
    writer.rollUp();
    const bound = { account: 'default', workspaces: ['default-w0'] };
    judge(reading, questionOf({ tenant: bound, by: ['key'] }), calls);
    judge(reading, questionOf({ tenant: { account: 'acme', workspaces: null }, by: ['key'] }), calls);
    judge(reading, questionOf({ tenant: { account: 'default', workspaces: [] }, by: ['key'] }), calls);
    const owners = Object.fromEntries(
      calls.filter(({ key_id }) => key_id.endsWith('1')).map(({ key_id }) => [key_id, 'ann']),
    );
    judge(reading, questionOf({ by: ['member'], owners }), calls);
    const web = Object.fromEntries(
      calls.filter(({ key_id }) => key_id.endsWith('2')).map(({ key_id }) => [key_id, 'web']),
    );
    judge(reading, questionOf({ by: ['tag'], tagged: [web] }), calls);
    judge(reading, questionOf({ by: ['member', 'tag'], owners, tagged: [null, web] }), calls);
    for (const [member, value] of Object.entries({
      model: 'model-3',
      provider: 'openai',
      end_user: 'user-1',
      protocol: 'chat',
    })) {
      const changes = {
        condition: { ...ANY, [member]: value },
        toMs: START_MS + 6 * 24 * HOUR_MS,
        by: ['model'] as const,
      };
      const matching = calls.filter((call) => Reflect.get(call, member) === value);
      judge(reading, questionOf(changes), matching);
    }
  });

  test.each(['model', 'provider', 'end_user', 'session'] as const)(
    'a filter leaves only calls without %s',
    (member) => {
      const { writer, reading } = open('UTC');
      const calls = randomCalls(600, 23).map((call, nth) => (nth % 5 === 0 ? { ...call, [member]: null } : call));
      fillCalls(writer, calls);
      const condition = { ...ANY, [member]: NONE };
      const without = calls.filter((call) => call[member] === null);
      const keys = { except: ['key_default_0', 'key_default_2'] };
      for (const fold of [false, true]) {
        if (fold) writer.rollUp();
        judge(reading, questionOf({ condition, by: ['workspace'], toMs: START_MS + 6 * 24 * HOUR_MS }), without);
        judge(reading, questionOf({ condition, by: [member] }), without);
        judge(
          reading,
          questionOf({ condition: { ...ANY, keys }, by: ['key'] }),
          calls.filter(({ key_id }) => !keys.except.includes(key_id)),
        );
      }
    },
  );
});

const WHOLE: ProofQuestion = {
  tenant: { account: 'default', workspaces: null },
  fromMs: START_MS,
  toMs: END_MS,
  timeZone: 'Europe/Berlin',
  timeMsMax: 30_000,
};

test(`usage, records and ledger are the same to the nano-dollar, over ${CALLS} calls`, () => {
  const { writer, reading } = open('Europe/Berlin');
  const calls = randomCalls(CALLS, 1);
  for (let at = 0; at < calls.length; at += 1_000) {
    fillCalls(writer, calls.slice(at, at + 1_000));
    writer.rollUp();
  }
  const own = calls.filter(({ account }) => account === 'default');
  for (const fold of [false, true]) {
    if (fold) writer.rollUp();
    const { cost } = sumOf(own);
    const proof = proveUsage(reading, WHOLE);
    expect(proof).toMatchObject({ usage: cost, records: cost, ledger: cost, beforeLedger: 0n, calls: own.length });
    expect(proof.chain).toEqual({ holds: true, checked: proof.chain.of, of: proof.chain.of });
    expect(proof.chain.of).toBe(CALLS / 1_000);
  }
}, 60_000);

test('a proof finds sums that differ from the records, and changed blocks', () => {
  const { writer, reading, path } = open('Europe/Berlin');
  fillCalls(writer, randomCalls(300, 1));
  writer.rollUp();
  const vandal = openWriteConnection(path);
  closers.push(() => vandal.close());
  vandal.run("DELETE FROM usage_block WHERE step = 'day'");
  expect(proveUsage(reading, WHOLE)).not.toMatchObject({ usage: proveUsage(reading, WHOLE).records });
  vandal.run('DROP TRIGGER block_keeps');
  vandal.run("UPDATE block SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'ff' AS BLOB) WHERE seq = 1");
  expect(proveUsage(reading, WHOLE).chain.holds).toBe(false);
});
