/** Defines what the choice among a route's targets says of each of them, and what it asks of their health. */
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
  | 'price';

/** Why a target cannot take the call now. `out`: an operator took it out of rotation. */
export type SkipReason = 'breaker' | 'benched' | 'cooling' | 'full' | 'out';

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

/** What the choice asks of the health of targets. */
export interface HealthView {
  of(target: Target): TargetHealthView;
}

/** The health of one target. All times are on one monotonic clock, in ms. */
export interface TargetHealthView {
  /**
   * What its state allows for a call with a credential. `probe`: one call may show whether it is back. `open`: only if
   * nothing else can be used. `out`: an operator took it out of rotation.
   */
  verdict(credential: number, nowMs: number): 'usable' | 'probe' | 'open' | 'cooling' | 'benched' | 'out';
  /** When the pause of the credential ends, after the verdicts `open`, `cooling` and `benched`. */
  untilMs(credential: number): number;
  /** The part of its usual share that it takes: less than 1 in the seconds after it closed. */
  share(nowMs: number): number;
  /** For how long it has been closed; Infinity: since the start. 0: it is not closed. */
  closedForMs(nowMs: number): number;
  /** The share of faults in its last hundred outcomes. */
  faultShare(): number;
  /** The expected time to first content, which decays without calls; null: unknown. */
  expectedMs(nowMs: number): number | null;
  /** Attempts under way. */
  readonly open: number;
}
