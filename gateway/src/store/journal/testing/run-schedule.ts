/** Runs a journal by a schedule of steps under the test runner's clock, with faults and starts, and checks every moment. */
import { jest } from 'bun:test';
import type { FilePort } from '../file-port.ts';
import { JournalTrial, turn } from './journal-trial.ts';
import { systemError } from './memory-files.ts';

/** Draws numbers in [0, 1) by a seed (mulberry32). */
export function drawBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** `turns` of the event loop; `wait`: ms of the clock; `fail`: the next `calls` calls after `after` more fail. */
export type Step =
  | { readonly do: 'append'; readonly bytes: number; readonly lazy: boolean }
  | { readonly do: 'turns'; readonly count: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'slow'; readonly on: boolean }
  | { readonly do: 'fail'; readonly after: number; readonly calls: number; readonly code: string }
  | { readonly do: 'capacity'; readonly bytes: number }
  | { readonly do: 'shortWrites'; readonly bytes: number }
  | { readonly do: 'flush' }
  | { readonly do: 'ingest' }
  | { readonly do: 'release' }
  | { readonly do: 'kill' }
  | { readonly do: 'powerLoss' };

export interface Checks {
  /** Draws a number in [0, 1). */
  random(): number;
  /** How many power losses are tried at each call, besides a kill; with 0 no moment between the steps is checked. */
  lossesPerCall: number;
}

/** How many calls changed a file. Throws where a check fails. */
export async function runSchedule(steps: readonly Step[], checks: Checks): Promise<number> {
  const trial = new JournalTrial();
  let calls = 0;
  jest.useFakeTimers();
  try {
    watch(trial, checks);
    await trial.open();
    for (const step of steps) {
      calls += await runStep(trial, step, checks);
      if (trial.violation !== null) throw trial.violation;
    }
    watch(trial, checks);
    trial.files.isSlow = false;
    trial.files.capacityBytes = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 4; round++) await pass(500);
    await trial.flush();
    await pass(0);
    checkNow(trial, checks);
    if (trial.violation !== null) throw trial.violation;
    const settled = trial.fates.filter((fate) => fate === 'open' || fate === 'lazy');
    if (settled.length > 0) throw new Error(`${settled.length} frames were never settled: ${trial.fates.join(' ')}`);
    if (trial.journal?.writable() !== true) throw new Error('the journal does not go on after the faults');
    calls += trial.files.calls;
    await trial.journal.close();
  } finally {
    jest.useRealTimers();
  }
  return calls;
}

async function runStep(trial: JournalTrial, step: Step, checks: Checks): Promise<number> {
  const { files } = trial;
  switch (step.do) {
    case 'append':
      trial.append(step.bytes, step.lazy);
      break;
    case 'turns':
      for (let count = 0; count < step.count; count++) await turn();
      break;
    case 'wait':
      await pass(step.ms);
      break;
    case 'slow':
      files.isSlow = step.on;
      break;
    case 'fail': {
      const first = files.calls + step.after + 1;
      watch(trial, checks, (call) => (call >= first && call < first + step.calls ? systemError(step.code) : null));
      break;
    }
    case 'capacity':
      files.capacityBytes = step.bytes;
      break;
    case 'shortWrites':
      files.writeBytesMax = step.bytes;
      break;
    case 'flush':
      void trial.flush();
      break;
    case 'ingest':
      trial.ingest();
      break;
    case 'release':
      trial.release();
      break;
    default: {
      const isPowerLoss = step.do === 'powerLoss';
      const left = isPowerLoss ? files.afterPowerLoss(() => checks.random() < 0.5) : files.afterKill();
      const calls = files.calls;
      // The process is gone: nothing of it runs on.
      files.faultOf = () => systemError('EIO');
      files.isSlow = true;
      jest.clearAllTimers();
      trial.leave(left, isPowerLoss);
      watch(trial, checks);
      await trial.open();
      return calls;
    }
  }
  return 0;
}

/** Lets time pass, and what it started end. */
export async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  for (let count = 0; count < 6; count++) await turn();
}

/** Checks before each call what a start would find if the process were killed there. */
function watch(trial: JournalTrial, checks: Checks, faultAt: (call: number) => Error | null = () => null): void {
  const { files } = trial;
  files.random = checks.random;
  files.faultOf = (name: keyof FilePort, call: number) => {
    try {
      if (checks.lossesPerCall > 0 && trial.stream !== null) checkNow(trial, checks);
    } catch (violation) {
      // Thrown here, it would be one more fault of the disk.
      trial.violation ??= violation;
    }
    return name === 'remove' ? null : faultAt(call);
  };
}

function checkNow(trial: JournalTrial, { random, lossesPerCall }: Checks): void {
  trial.check(trial.files.afterKill(), false);
  for (let loss = 0; loss < lossesPerCall; loss++) {
    const share = random();
    trial.check(
      trial.files.afterPowerLoss(() => random() < share),
      true,
    );
  }
}
