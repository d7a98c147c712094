/**
 * Counts each provider's calls, faults and times to the first byte over the last minutes, in memory. Runs on every
 * call, so counting allocates nothing. Makes no decisions about calls.
 */
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';

export type HealthState = 'healthy' | 'failing' | 'idle';

/** Over the last 15 minutes. */
export interface HealthView {
  readonly state: HealthState;
  readonly calls: number;
  /** Calls that failed because of the provider, including its refusals of the operator's credential. */
  readonly errors: number;
  /** Median time to the first byte of streams, accurate to 6%; null: no streams. */
  readonly ttfbP50Ms: number | null;
}

export interface ProviderHealth {
  /**
   * Counts a finished call that attempted the provider. `failure`: null for a complete answer; `ttfbMs`: null if the
   * call did not stream; `nowMs`: on the `performance.now()` clock.
   */
  count(provider: string, failure: FailureKind | null, ttfbMs: number | null, nowMs: number): void;
  /** The health of a provider; one that was never called is idle. */
  read(provider: string): HealthView;
}

const MINUTES = 15;
const MINUTE_MS = 60_000;
/** Consecutive faults, or half of this many calls: the circuit breaker thresholds of the reliability design. */
const FAULTS_IN_A_ROW = 5;
const CALLS_FOR_A_SHARE = 20;

/** The period that `read` and `HealthView.calls` cover. */
export const HEALTH_WINDOW_MS = MINUTES * MINUTE_MS;
/** The only definition of a failing provider, for every page that shows its state. */
export const HEALTH_RULE =
  `Failing: in the last ${MINUTES} minutes every request failed because of the provider, ` +
  `or the last ${FAULTS_IN_A_ROW} in a row did, or at least half of ${CALLS_FOR_A_SHARE} or more.`;

/**
 * Times fall into buckets that grow by a sixth of an octave from 1 ms; the last one takes everything above about nine
 * minutes.
 */
const STEPS_PER_OCTAVE = 6;
const STEPS = 116;
const STEP_FACTOR = STEPS_PER_OCTAVE / Math.LN2;
const SLOT_NUMBERS = 2 + STEPS;
const CALLS = 0;
const ERRORS = 1;
const TIMES = 2;

/** A provider's ring buffer: for each of the last minutes, its number and its counts. */
interface Ring {
  readonly minutes: Float64Array;
  readonly counts: Uint32Array;
  faultsInARow: number;
}

/**
 * A call that its caller or this gateway ended says nothing about the provider; a refusal shows that the provider is
 * up.
 */
const REFUSALS: ReadonlySet<FailureKind> = new Set(['upstream_rejected', 'context_overflow', 'output_over_context']);

/** Computes health from attempts; `clock` in ms, for reading. */
export function createProviderHealth(clock: () => number = () => performance.now()): ProviderHealth {
  const rings = new Map<string, Ring>();

  return {
    count(provider, failure, ttfbMs, nowMs) {
      const isFault = failure !== null && FAILURE_KINDS[failure].origin === 'upstream';
      if (failure !== null && !isFault && !REFUSALS.has(failure)) return;
      let ring = rings.get(provider);
      if (ring === undefined) {
        ring = newRing();
        rings.set(provider, ring);
      }
      const at = openSlot(ring, Math.floor(nowMs / MINUTE_MS));
      const { counts } = ring;
      counts[at + CALLS] = (counts[at + CALLS] ?? 0) + 1;
      ring.faultsInARow = isFault ? ring.faultsInARow + 1 : 0;
      if (isFault) counts[at + ERRORS] = (counts[at + ERRORS] ?? 0) + 1;
      else if (ttfbMs !== null) {
        const step = at + TIMES + stepOf(ttfbMs);
        counts[step] = (counts[step] ?? 0) + 1;
      }
    },
    read(provider) {
      const ring = rings.get(provider);
      return ring === undefined ? NEVER_CALLED : readRing(ring, Math.floor(clock() / MINUTE_MS));
    },
  };
}

const NEVER_CALLED: HealthView = { state: 'idle', calls: 0, errors: 0, ttfbP50Ms: null };

function newRing(): Ring {
  return {
    minutes: new Float64Array(MINUTES).fill(-1),
    counts: new Uint32Array(MINUTES * SLOT_NUMBERS),
    faultsInARow: 0,
  };
}

/** The offset of a minute's counts; clears counts of an earlier round. */
function openSlot({ minutes, counts }: Ring, minute: number): number {
  const slot = minute % MINUTES;
  const at = slot * SLOT_NUMBERS;
  if (minutes[slot] !== minute) {
    minutes[slot] = minute;
    counts.fill(0, at, at + SLOT_NUMBERS);
  }
  return at;
}

function stepOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(STEPS - 1, Math.ceil(Math.log(ms) * STEP_FACTOR));
}

function readRing({ minutes, counts, faultsInARow }: Ring, minute: number): HealthView {
  const sums = new Float64Array(SLOT_NUMBERS);
  for (let slot = 0; slot < MINUTES; slot++) {
    if ((minutes[slot] ?? -1) <= minute - MINUTES) continue;
    for (let index = 0; index < SLOT_NUMBERS; index++) {
      sums[index] = (sums[index] ?? 0) + (counts[slot * SLOT_NUMBERS + index] ?? 0);
    }
  }
  const calls = sums[CALLS] ?? 0;
  const errors = sums[ERRORS] ?? 0;
  return { state: judge(calls, errors, faultsInARow), calls, errors, ttfbP50Ms: medianOf(sums.subarray(TIMES)) };
}

/** A provider without calls is not reported as healthy. */
function judge(calls: number, errors: number, faultsInARow: number): HealthState {
  if (calls === 0) return 'idle';
  const half = calls >= CALLS_FOR_A_SHARE && errors * 2 >= calls;
  return errors === calls || faultsInARow >= FAULTS_IN_A_ROW || half ? 'failing' : 'healthy';
}

/** The middle of the bucket that contains the median. */
function medianOf(times: Float64Array): number | null {
  const half = times.reduce((sum, count) => sum + count, 0) / 2;
  if (half === 0) return null;
  let seen = 0;
  const step = times.findIndex((count) => {
    seen += count;
    return seen >= half;
  });
  return Math.round(step === 0 ? 1 : Math.exp((step - 0.5) / STEP_FACTOR));
}
