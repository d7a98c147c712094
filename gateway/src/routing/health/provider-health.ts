/** Counts each provider's attempts, faults and times to the first byte over the last minutes, for people to read. */
import { Durations, WindowCounts } from './window-counts.ts';

export type HealthState = 'healthy' | 'failing' | 'idle';

/** Over the last 15 minutes. */
export interface HealthView {
  readonly state: HealthState;
  /** Requests sent to the provider that were answered or failed. */
  readonly calls: number;
  /** Those that failed because of the provider, including its refusals of the operator's credential. */
  readonly errors: number;
  /** Median time to the first byte of streams, accurate to 6%; null: no streams. */
  readonly ttfbP50Ms: number | null;
}

/** Reads the health of a provider; one that was never called is idle. */
export type ReadHealth = (provider: string) => HealthView;

const MINUTES = 15;
const MINUTE_MS = 60_000;
/** Consecutive faults, or half of this many calls: the thresholds of the breaker. */
const FAULTS_IN_A_ROW = 5;
const CALLS_FOR_A_SHARE = 20;

/** The period that `HealthView.calls` covers. */
export const HEALTH_WINDOW_MS = MINUTES * MINUTE_MS;
/** The only definition of a failing provider, for every page that shows its state. */
export const HEALTH_RULE =
  `Failing: in the last ${MINUTES} minutes every request failed because of the provider, ` +
  `or the last ${FAULTS_IN_A_ROW} in a row did, or at least half of ${CALLS_FOR_A_SHARE} or more.`;

const CALLS = 0;
const ERRORS = 1;

/** The statistics of one provider. */
export class ProviderStats {
  readonly #counts = new WindowCounts(MINUTE_MS, MINUTES, 2);
  readonly #firstBytes = new Durations(MINUTES, MINUTES);
  #errorsInARow = 0;

  /** `ttfbMs`: of an attempt that streamed and did not fail; null otherwise. */
  note(isError: boolean, ttfbMs: number | null, nowMs: number): void {
    this.#counts.add(CALLS, nowMs);
    this.#errorsInARow = isError ? this.#errorsInARow + 1 : 0;
    if (isError) this.#counts.add(ERRORS, nowMs);
    else if (ttfbMs !== null) this.#firstBytes.add(ttfbMs, nowMs);
  }

  read(nowMs: number): HealthView {
    const calls = this.#counts.sum(CALLS, nowMs);
    const errors = this.#counts.sum(ERRORS, nowMs);
    const median = this.#firstBytes.quantile(0.5, 1, nowMs);
    return { state: this.#judge(calls, errors), calls, errors, ttfbP50Ms: median === null ? null : Math.round(median) };
  }

  /** A provider without calls is not reported as healthy. */
  #judge(calls: number, errors: number): HealthState {
    if (calls === 0) return 'idle';
    const half = calls >= CALLS_FOR_A_SHARE && errors * 2 >= calls;
    return errors === calls || this.#errorsInARow >= FAULTS_IN_A_ROW || half ? 'failing' : 'healthy';
  }
}

export const NEVER_CALLED: HealthView = { state: 'idle', calls: 0, errors: 0, ttfbP50Ms: null };
