/** Counts the results of a load run by phase. */
import type { Latency } from './load-plan.ts';
import { percentile } from './percentile.ts';

/** `warmup` and `drain` send or finish calls without counting them; only failures count in every phase. */
export type Phase = 'warmup' | 'window' | 'drain';

/** This many failures end a run: the subject is broken, and more load adds no information. */
export const FAILURES_MAX = 20;

export interface Tally {
  phase: Phase;
  calls: number;
  events: number;
  failures: number;
  firstFailure: string | null;
  reconnects: number;
  readonly callMs: number[];
  readonly firstMs: number[];
  /** Resolves on the failure that ends the run. */
  readonly broken: Promise<void>;
  /** The first body byte or event of a call started at `startedAt` has just arrived. */
  first(startedAt: number): void;
  /** A call started at `startedAt` has just been answered correctly. */
  ok(startedAt: number): void;
  fail(reason: string): void;
}

/** The 50th and 99th percentile and the maximum of samples in milliseconds. */
export function summarizeLatency(samples: readonly number[]): Latency {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), longest: percentile(samples, 1) };
}

/** An empty tally, in warm-up. */
export function createTally(): Tally {
  const broken = Promise.withResolvers<void>();
  const tally: Tally = {
    phase: 'warmup',
    calls: 0,
    events: 0,
    failures: 0,
    firstFailure: null,
    reconnects: 0,
    callMs: [],
    firstMs: [],
    broken: broken.promise,
    first(startedAt) {
      if (tally.phase === 'window') tally.firstMs.push(performance.now() - startedAt);
    },
    ok(startedAt) {
      if (tally.phase !== 'window') return;
      tally.calls += 1;
      tally.callMs.push(performance.now() - startedAt);
    },
    fail(reason) {
      tally.failures += 1;
      tally.firstFailure ??= reason;
      if (tally.failures >= FAILURES_MAX) broken.resolve();
    },
  };
  return tally;
}
