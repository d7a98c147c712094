/** Tests the rig end to end with a stand-in for Tollgate, and the command when there is nothing to measure. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases.ts';
import { measure } from './measure.ts';
import { measureOpenStreams } from './memory/measure-open-streams.ts';
import { measureStalledReaders } from './memory/measure-stalled-readers.ts';
import { CALL_PATH } from './protocol.ts';
import { type Rig, startRig } from './rig.ts';
import { runRounds } from './run-rounds.ts';
import type { RunningSubject, Subject } from './subjects/subject.ts';
import { tollgate, tollgateC2m, tollgateM2c, tollgateM2m } from './subjects/tollgate.ts';

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

function target() {
  const { port, headers, group } = running;
  return { port, path: CALL_PATH.chat, headers, pid: group.pid };
}

describe('the rig', () => {
  test('measures a Tollgate with the key from its first start, launcher and server together', async () => {
    const [benchCase] = CASES;
    if (benchCase === undefined) throw new Error('no case');
    const timing = { warmupMs: 50, windowMs: 200, settleMs: 0 };
    const { load, memory } = await measure(tollgate, running, benchCase, rig.upstreamPid, 1, timing);
    expect(load.firstFailure).toBeNull();
    expect(load.calls).toBeGreaterThan(50);
    expect(load.cpuMs.subject).toBeGreaterThan(0);
    expect(load.cpuMs.upstream).toBeGreaterThanOrEqual(0);
    expect(memory.map(({ name }) => name).sort()).toEqual(['bun.exe', 'tollgate']);
  });

  test('points each Tollgate at an upstream of its format, and says which pairs it leaves out', async () => {
    const subjects = new Map<Subject, RunningSubject>();
    for (const subject of [tollgateC2m, tollgateM2m, tollgateM2c]) subjects.set(subject, await rig.start(subject));
    const timing = { warmupMs: 50, windowMs: 100, settleMs: 0 };
    const { measurements, leftOut } = await runRounds({
      cases: CASES.filter(({ name }) => name === 'burst' || name === 'agent'),
      subjects,
      upstreamPid: rig.upstreamPid,
      rounds: 1,
      timing,
      rehearsal: timing,
      onProgress: () => {},
    });
    for (const { group } of subjects.values()) await group.stop();
    expect(measurements).toMatchObject([{ subject: 'tollgate-m2m', case: 'burst', load: { failures: 0 } }]);
    expect(measurements[0]?.load.calls).toBeGreaterThan(5);
    const reasons = leftOut.map(({ subject, case: name, reason }) => [subject, name, reason.replace(/^\d+ /, '')]);
    const cannot = (path: string, endpoint: string) =>
      `failed requests in the rehearsal; status: found 501, expected 200; no ${path} from ${endpoint}`;
    expect(reasons).toEqual([
      ['tollgate-m2m', 'agent', 'the case has no request of messages clients'],
      ['tollgate-m2c', 'agent', 'the case has no request of messages clients'],
      ['tollgate-c2m', 'burst', cannot('/v1/chat/completions', '/messages')],
      ['tollgate-m2c', 'burst', cannot('/v1/messages', '/chat/completions')],
      ['tollgate-c2m', 'agent', cannot('/v1/chat/completions', '/messages')],
    ]);
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
