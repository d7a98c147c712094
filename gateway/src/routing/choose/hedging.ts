/**
 * Decides when a call whose answer is late gets a second attempt at another target beside the first. Source: design of
 * routing, section 9.
 */
import type { RoutingState } from '../health/routing-state.ts';
import { WindowCounts } from '../health/window-counts.ts';
import type { Route, Target } from '../route.ts';
import { type Candidate, isUsable, type UsableCandidate } from './candidate.ts';
import type { RoutedRequest } from './routed-request.ts';

/** A call of a route, and the attempt that runs. */
export interface HedgedCall {
  readonly route: Route;
  readonly candidates: readonly Candidate[];
  /** Null: the route has one target. */
  readonly routed: RoutedRequest | null;
  /** The target of the running attempt. */
  readonly target: Target;
  readonly isStream: boolean;
  readonly requestBytes: number;
}

/** An attempt is late once it takes longer to its first byte than this share of such calls. */
const LATE_SHARE = 0.95;
const LATE_MS_MIN = 1_000;
const SECONDS = 60;
/** The most second attempts, as a share of the route's calls in the last minute. */
const EXTRA_SHARE = 0.05;

const CALLS = 0;
const HEDGES = 1;

export class Hedging {
  /** By the model of the route. */
  readonly #counts = new Map<string, WindowCounts>();

  /**
   * Counts a call whose first attempt begins now. Returns after how many milliseconds without a first byte `take` may be
   * asked; Infinity: never.
   */
  begin(call: HedgedCall, health: RoutingState, nowMs: number): number {
    const { route, routed, target, isStream, requestBytes } = call;
    if (!route.routing.hedge || routed === null) return Number.POSITIVE_INFINITY;
    this.#countsOf(route).add(CALLS, nowMs);
    // A tool that the provider runs may act twice.
    if (routed.needs?.serverTool !== null || findOther(call, health, nowMs) === null) return Number.POSITIVE_INFINITY;
    const lateMs = health.of(target).target.firstBytes.quantile(LATE_SHARE, isStream, requestBytes, nowMs);
    return lateMs === null ? Number.POSITIVE_INFINITY : Math.max(LATE_MS_MIN, lateMs);
  }

  /**
   * The target of a second attempt that begins now, which is counted; null: none may begin. `riskAllows`: the running
   * attempt, which the provider may bill, leaves `uncertain_retry` room for another.
   */
  take(call: HedgedCall, riskAllows: boolean, health: RoutingState, nowMs: number): UsableCandidate | null {
    const candidate = riskAllows ? findOther(call, health, nowMs) : null;
    if (candidate === null) return null;
    const counts = this.#countsOf(call.route);
    if (counts.sum(HEDGES, nowMs) + 1 > EXTRA_SHARE * counts.sum(CALLS, nowMs)) return null;
    counts.add(HEDGES, nowMs);
    return candidate;
  }

  /** Forgets the other models. */
  keepOnly(models: ReadonlySet<string>): void {
    for (const model of this.#counts.keys()) if (!models.has(model)) this.#counts.delete(model);
  }

  #countsOf({ model }: Route): WindowCounts {
    const known = this.#counts.get(model) ?? new WindowCounts(1_000, SECONDS, 2);
    this.#counts.set(model, known);
    return known;
  }
}

/** The first other target that is usable. Null: there is no such target, or one of the route is open. */
function findOther({ candidates, target }: HedgedCall, states: RoutingState, nowMs: number): UsableCandidate | null {
  let found: UsableCandidate | null = null;
  for (const candidate of candidates) {
    if (candidate.verdict === 'filtered') continue;
    const health = states.of(candidate.target);
    if (!health.target.breaker.isClosed || !health.target.origin.isClosed) return null;
    // A target with few places is full when it is slow.
    if (!isUsable(candidate) || candidate.target === target || candidate.target.maxConcurrency !== null) continue;
    if (health.verdict(candidate.credential, nowMs) === 'usable') found ??= candidate;
  }
  return found;
}
