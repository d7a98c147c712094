/** Tests the pairing of lines and attempts: each once, nearest kinds first, and fast for many of the same kind. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { createFindings } from './findings.ts';
import { matchRequests, type RequestLine } from './match-requests.ts';
import type { OwnAttempt } from './own-attempts.ts';
import { findNearest, indexByTime, pairInTime } from './pair-in-time.ts';

const TOKENS = { input: 10, cache_read: 0, cache_write: 0, output: 5 };
const NOON_MS = Date.UTC(2026, 10, 20, 12);

function own(n: number, atMs: number): OwnAttempt {
  return {
    requestId: `req_${n}`,
    attempt: 1,
    atMs,
    day: new Date(atMs).toISOString().slice(0, 10),
    model: 'm',
    modelKey: 'm',
    upstreamRequestId: null,
    tokens: TOKENS,
    cost: 7n,
    role: 'answered',
    isEstimated: false,
    tier: null,
    isBatch: false,
    price: null,
  };
}

function line(atMs: number): RequestLine {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return { day, atMs, model: 'm', modelKey: 'm', requestId: null, tokens: TOKENS, amount: 7n, tier: null };
}

test('each line takes one attempt in its reach, and each attempt is taken once', () => {
  const attempts = [own(1, 0), own(2, 100), own(3, 200)];
  const used = new Set<OwnAttempt>();
  const pairs: [number, string][] = [];
  const lines = [250, 90, 5, 1_000].map((atMs) => ({ day: '1970-01-01', atMs }));
  const left = pairInTime(
    lines,
    indexByTime(attempts, () => 'm'),
    () => 'm',
    60,
    used,
    (each, found) => {
      used.add(found);
      pairs.push([each.atMs, found.requestId]);
    },
  );
  expect(pairs).toEqual([
    [5, 'req_1'],
    [90, 'req_2'],
    [250, 'req_3'],
  ]);
  expect(left).toEqual([{ day: '1970-01-01', atMs: 1_000 }]);
});

test('the nearest attempt is found on either side, within a limit', () => {
  const attempts = [own(1, 0), own(2, 100)];
  const near = (atMs: number, within = 1_000) => findNearest({ day: '', atMs }, attempts, within)?.requestId;
  expect([near(40), near(60), near(5_000), near(150, 49), near(-10)]).toEqual([
    'req_1',
    'req_2',
    undefined,
    undefined,
    'req_1',
  ]);
});

test('a request that is not in the export does not shift others of the same usage to another day', () => {
  // One request an hour for three days; the export lacks the first.
  const attempts = Array.from({ length: 72 }, (_, n) => own(n, NOON_MS + n * 3_600_000));
  const findings = createFindings();
  matchRequests(
    attempts.slice(1).map(({ atMs }) => line(atMs)),
    attempts,
    findings,
    () => true,
  );
  expect(findings.list().map(({ cause, requestId }) => [cause, requestId])).toEqual([['not_billed', 'req_0']]);
});

test('a hundred thousand requests of the same usage take a moment', () => {
  const attempts = Array.from({ length: 100_000 }, (_, n) => own(n, NOON_MS + n));
  const lines = attempts.map(({ atMs }) => line(atMs + 1));
  const cpuMs = startCpuClock();
  const findings = createFindings();
  matchRequests([...lines, line(NOON_MS)], attempts, findings, () => true);
  expect(findings.list().map(({ cause, count }) => [cause, count])).toEqual([['double', 1]]);
  expect(cpuMs()).toBeLessThan(10_000);
});
