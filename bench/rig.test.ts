/** Tests the rig end to end with a stand-in for Tollgate, and the command when there is nothing to measure. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchCase, CASES } from './cases.ts';
import { measure } from './measure.ts';
import { measureOpenStreams } from './memory/measure-open-streams.ts';
import { measureStalledReaders } from './memory/measure-stalled-readers.ts';
import { CALL_PATH } from './protocol.ts';
import { type Rig, startRig } from './rig.ts';
import { runRounds } from './run-rounds.ts';
import type { RunningSubject, Subject } from './subjects/subject.ts';
import { tollgate, tollgateC2m, tollgateM2c, tollgateM2m, tollgateR2r } from './subjects/tollgate.ts';

const FAKE = fileURLToPath(new URL('testing/fake-tollgate.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

let dir: string;
let rig: Rig;
let running: RunningSubject;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bench-test-'));
  const launcher = join(dir, 'tollgate');
  writeFileSync(launcher, `#!/bin/sh\n"${process.execPath}" "${FAKE}" "$@"\n`);
  chmodSync(launcher, 0o755);
  rig = await startRig(launcher);
  running = await rig.start(tollgate);
});
afterAll(async () => {
  await rig.stop();
  rmSync(dir, { recursive: true });
});

const shortened = (benchCase: BenchCase): BenchCase => ({ ...benchCase, windowMs: 100 });

function target() {
  const { port, headers, group } = running;
  return { port, path: CALL_PATH.chat, headers, pid: group.pid };
}

describe('the rig', () => {
  test('measures a Tollgate with a key of its own, launcher and server together', async () => {
    const [benchCase] = CASES;
    if (benchCase === undefined) throw new Error('no case');
    const timing = { warmupMs: 50, windowMs: 200, settleMs: 0 };
    const { load, memory } = await measure(tollgate, running, benchCase, rig, 1, timing);
    expect(load.firstFailure).toBeNull();
    expect(load.calls).toBeGreaterThan(50);
    expect(load.cpuMs.subject).toBeGreaterThan(0);
    expect(load.cpuMs.upstream).toBeGreaterThanOrEqual(0);
    expect(memory.map(({ name }) => name).sort()).toEqual(['bun.exe', 'tollgate']);
  });

  test('points each Tollgate at an upstream of its format, and says which pairs it leaves out', async () => {
    const subjects = new Map<Subject, RunningSubject>();
    for (const subject of [tollgateC2m, tollgateM2m, tollgateM2c, tollgateR2r])
      subjects.set(subject, await rig.start(subject));
    const timing = { warmupMs: 50, windowMs: 100, settleMs: 0 };
    const { measurements, leftOut } = await runRounds({
      cases: CASES.filter(({ name }) => name === 'burst' || name === 'agent').map(shortened),
      subjects,
      rig,
      rounds: 1,
      warmupMs: 50,
      rehearsal: timing,
      onProgress: () => {},
    });
    for (const { group } of subjects.values()) await group.stop();
    expect(measurements).toMatchObject(
      ['tollgate-m2m', 'tollgate-r2r'].map((subject) => ({ subject, case: 'burst', load: { failures: 0 } })),
    );
    expect(measurements[0]?.load.calls).toBeGreaterThan(5);
    const reasons = leftOut.map(({ subject, case: name, reason }) => [subject, name, reason.replace(/^\d+ /, '')]);
    const cannot = (path: string, endpoint: string) =>
      `failed requests in the rehearsal; status: found 501, expected 200; no ${path} from ${endpoint}`;
    expect(reasons).toEqual([
      ['tollgate-c2m', 'burst', cannot('/v1/chat/completions', '/messages')],
      ['tollgate-m2c', 'burst', cannot('/v1/messages', '/chat/completions')],
      ['tollgate-c2m', 'agent', cannot('/v1/chat/completions', '/messages')],
    ]);
  });

  test('measures a fresh start in as many rounds as the case has, until it has enough calls, and stops what it started', async () => {
    const [memory] = CASES.filter(({ name }) => name === 'memory');
    if (memory === undefined) throw new Error('no case');
    const started: RunningSubject[] = [];
    const watching: Rig = {
      ...rig,
      start: async (...args) => {
        const one = await rig.start(...args);
        started.push(one);
        return one;
      },
    };
    const { measurements } = await runRounds({
      cases: [{ ...shortened(memory), fresh: { rounds: 2, calls: 150, settleMs: 0 } }],
      subjects: new Map([[tollgate, running]]),
      rig: watching,
      rounds: 3,
      warmupMs: 0,
      rehearsal: { warmupMs: 0, windowMs: 50, settleMs: 0 },
      onProgress: () => {},
    });
    expect(measurements.map(({ round }) => round)).toEqual([1, 2]);
    expect(measurements.every(({ load }) => load.failures === 0)).toBe(true);
    expect(started).toHaveLength(2);
    await Promise.all(started.map(({ group }) => group.exited));
    expect(started.map(({ group }) => group.pid)).not.toContain(running.group.pid);
  });

  test('counts open streams and what they cost', async () => {
    const result = await measureOpenStreams({ ...target(), streams: 40, settleMs: 50 });
    expect(result).toMatchObject({ opened: 40, stillOpen: 40, failures: 0 });
    expect(result.bytesPerStream).toBe(Math.round((result.afterBytes - result.beforeBytes) / 40));
  });

  test('counts streams that do not open', async () => {
    const result = await measureOpenStreams({ ...target(), headers: {}, streams: 40, settleMs: 0 });
    expect(result).toMatchObject({ opened: 0, bytesPerStream: null });
    expect(result.firstFailure).toContain('found 401, expected 200');
  });

  test('stalls readers while a neighbour calls', async () => {
    const limits = { readers: 5, durationMs: 300, growthBytesMax: 2 ** 30 };
    const result = await measureStalledReaders({ ...target(), ...limits });
    expect(result).toMatchObject({ opened: 5, failures: 0, neighbourFailures: 0, stoppedEarly: false });
    expect(result.neighbourDuring.p99).toBeGreaterThan(0);
    expect(result.peakBytes).toBeGreaterThanOrEqual(result.afterBytes);
  });
});

test.each([
  [[], 0],
  [['--strict'], 1],
])('the command says that Tollgate is missing and ends with its status %j', async (flags, status) => {
  const absent = join(dir, 'absent');
  const args = ['--only', 'tollgate', '--case', 'plain', '--tollgate', absent, ...flags];
  const bench = Bun.spawn([process.execPath, MAIN, ...args], { stdout: 'pipe', stderr: 'pipe' });
  const output = await new Response(bench.stdout).text();
  expect(await bench.exited).toBe(status);
  expect(output).toContain(`skipped tollgate: ${absent} is missing`);
  expect(JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ rows: [], leftOut: [] });
});
