/** Performs one measurement: one subject under one case for one window, or from its start on. */
import { fileURLToPath } from 'node:url';
import type { BenchCase, CaseName } from './cases.ts';
import type { LoadPlan, LoadResult } from './load/load-plan.ts';
import { type MemorySample, readMemory } from './process/process-usage.ts';
import { resetPeakMemory } from './process/reset-peak-memory.ts';
import { startGroup } from './process/start-group.ts';
import { CALL_PATH } from './protocol.ts';
import type { Rig } from './rig.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';

const LOAD_SCRIPT = fileURLToPath(new URL('load/main.ts', import.meta.url));
/** In addition to warm-up and window: the generator's start, its drain, and a slow machine. */
const LOAD_GRACE_MS = 15_000;

export interface Timing {
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Idle time after the load, before settled memory is read. */
  readonly settleMs: number;
}

export interface Measurement {
  readonly subject: SubjectName;
  readonly case: CaseName;
  readonly round: number;
  readonly load: LoadResult;
  /** Each process of the subject after `settleMs`; the peak covers only this measurement when `peakIsOwn`. */
  readonly memory: readonly MemorySample[];
  readonly peakIsOwn: boolean;
}

async function runLoadProcess(plan: LoadPlan): Promise<LoadResult> {
  const group = startGroup({ command: [process.execPath, LOAD_SCRIPT], stdin: new Blob([JSON.stringify(plan)]) });
  try {
    const [line] = await group.waitForOutput(/^\{.*\}$/m, plan.warmupMs + plan.windowMs + LOAD_GRACE_MS);
    const result: LoadResult = JSON.parse(line);
    return result;
  } finally {
    await group.stop();
  }
}

/**
 * Loads a running subject from a separate process and reads its cost. Failed calls are part of the result, not thrown.
 * Throws when the case has no call in the format of the subject's clients.
 */
export async function measure(
  subject: Subject,
  running: RunningSubject,
  benchCase: BenchCase,
  { upstreamPid, upstreamPort }: Pick<Rig, 'upstreamPid' | 'upstreamPort'>,
  round: number,
  timing: Timing,
): Promise<Measurement> {
  const call = benchCase.calls[subject.protocol];
  if (call === undefined) throw new Error(`case ${benchCase.name}: found no request of ${subject.protocol} clients`);
  const { port, headers, group } = running;
  const peakIsOwn = resetPeakMemory(group.pid);
  const load = await runLoadProcess({
    port,
    path: CALL_PATH[subject.protocol],
    headers,
    body: call.renderBody(),
    expect: call.expect,
    connections: benchCase.connections,
    callsPerSecond: benchCase.callsPerSecond,
    rehearsalPort: benchCase.fresh !== null && benchCase.callsPerSecond !== null ? upstreamPort : null,
    warmupMs: timing.warmupMs,
    windowMs: timing.windowMs,
    watch: { subject: group.pid, upstream: upstreamPid },
  });
  await Bun.sleep(timing.settleMs);
  const memory = readMemory(group.pid);
  return { subject: subject.name, case: benchCase.name, round, load, memory, peakIsOwn };
}

/** Starts a subject for a `fresh` case, measures it from its first call on, and stops it. The last window counts. */
export async function measureFresh(
  rig: Rig,
  subject: Subject,
  benchCase: BenchCase,
  fresh: NonNullable<BenchCase['fresh']>,
  round: number,
): Promise<Measurement> {
  const running = await rig.start(subject);
  const timing: Timing = { warmupMs: 0, windowMs: benchCase.windowMs, settleMs: fresh.settleMs };
  try {
    for (let calls = 0; ; ) {
      const measurement = await measure(subject, running, benchCase, rig, round, timing);
      calls += measurement.load.calls;
      if (calls >= fresh.calls || measurement.load.failures > 0) return measurement;
    }
  } finally {
    await running.group.stop();
  }
}
