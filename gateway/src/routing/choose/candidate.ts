/** Defines what the choice among a route's targets says of each of them, and what it asks of their health. */
import type { UpstreamHealth } from '../health/target-health.ts';
import type { Target } from '../route.ts';

/** What keeps a target from carrying the request. */
export type FilterReason =
  | 'tools'
  | 'images'
  | 'audio'
  | 'files'
  | 'server_tools'
  | 'issuer'
  | 'format'
  | 'tag'
  | 'price'
  /** Its format cannot express the request, or its context is too small for it. */
  | 'request';

/** Why a target cannot take the call now. */
export type SkipReason = 'breaker' | 'benched' | 'cooling' | 'full';

/**
 * Why a target is tried. `fallback`: another comes before it, or would have if it could take the call. `pin_cooling`: the
 * conversation's own target comes before it, but its credential cools for too long. `limp`: no target of the route is
 * usable, so those with an open breaker are tried.
 */
export type TryReason =
  | 'order'
  | 'weight'
  | 'latency'
  | 'price'
  | 'pin'
  | 'pin_cooling'
  | 'probe'
  | 'fallback'
  | 'limp';

/** What the choice says of one target of the route. */
export type Candidate = UsableCandidate | RefusedCandidate;

/** A target that may be tried. */
export interface UsableCandidate {
  readonly target: Target;
  /** Index of the credential to use, in `target.upstream.credentials`. */
  readonly credential: number;
  /** All usable credentials, the one to use first. */
  readonly credentials: readonly number[];
  /** `chosen`: the first. */
  readonly verdict: 'chosen' | 'fallback';
  readonly why: TryReason;
  /** Not before this time: a pinned credential cools until then. 0: at once. */
  readonly notBeforeMs: number;
}

/** A target that is not tried. `skipped`: by its state now; `filtered`: it cannot carry the request. */
export type RefusedCandidate =
  | {
      readonly target: Target;
      readonly verdict: 'skipped';
      readonly why: SkipReason;
      /** When the reason ends; null: unknown. */
      readonly untilMs: number | null;
    }
  | { readonly target: Target; readonly verdict: 'filtered'; readonly why: FilterReason };

/** Whether the target may be tried. */
export function isUsable(candidate: Candidate): candidate is UsableCandidate {
  return candidate.verdict === 'chosen' || candidate.verdict === 'fallback';
}

/** What the choice asks of the health of a target. */
export type TargetHealthView = Pick<
  UpstreamHealth,
  'verdict' | 'untilMs' | 'share' | 'closedForMs' | 'faultShare' | 'expectedMs' | 'open'
>;

/** The health of all targets: `RoutingState`. */
export interface HealthView {
  of(target: Target): TargetHealthView;
}
