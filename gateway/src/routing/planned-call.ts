/** Defines what the plan of a call's attempts is made from, and what it says. */
import type { RoutingConfig } from '../config/config.ts';
import type { FailureClass } from './health/failure-table.ts';
import type { Route, Target } from './route.ts';

/** Why an attempt goes where it goes. `retry`: the target that failed just before, once more. */
export type AttemptWhy =
  | RoutingConfig['strategy']
  | 'pin'
  | 'pin_cooling'
  | 'probe'
  | 'fallback'
  | 'retry'
  | 'limp'
  | 'hedge';

/** A target of the route, as the choice sees it. */
export interface PlanCandidate {
  readonly target: Target;
  /** `filtered` targets cannot carry the request; all others may be tried as soon as their state allows it. */
  readonly verdict: 'chosen' | 'fallback' | 'skipped' | 'filtered';
  readonly why: string;
  /** The credentials to use, in order; absent: as configured. */
  readonly credentials?: readonly number[];
  /** The first attempt waits until then for the credential of its conversation; absent or 0: it does not. */
  readonly notBeforeMs?: number;
}

/** The pause that clients hear of where a provider limits the rate and names none. */
export const PAUSE_MS_DEFAULT = 5_000;

/** A failure before the first content. */
export interface AttemptFailure {
  readonly class: FailureClass;
  /** The pause that the provider named, in milliseconds, exactly; null: none. */
  readonly pauseMs: number | null;
  /** The estimated cost of the attempt in nano-USD, if the provider may have billed it; null: it certainly did not. */
  readonly atRisk: bigint | null;
}

/** What the plan needs to know of a call. All times are on the `performance.now()` clock. */
export interface PlannedCall {
  readonly route: Pick<Route, 'model'>;
  readonly routing: Pick<RoutingConfig, 'strategy' | 'maxExtraAttempts' | 'uncertainRetry' | 'fallbackOn'>;
  readonly workspace: string;
  readonly isStream: boolean;
  readonly requestBytes: number;
  /** When the call's time is over. */
  readonly endMs: number;
}

/**
 * What the loop does next. `try`: the attempt has begun, so send the request to `target` with `credential`. `wait`: call
 * `resume` at `untilMs`. `end`: tell the client `best`, or `refusal` if no attempt was made.
 */
export type Step = 'try' | 'wait' | 'end';
