/** Walks over the candidates of one call: which can be used now, which pause, which have failed it already. */
import type { FailureClass } from './health/failure-table.ts';
import type { RoutingState } from './health/routing-state.ts';
import type { UpstreamHealth, Verdict } from './health/target-health.ts';
import type { PlanCandidate } from './planned-call.ts';
import type { Target } from './route.ts';

/** A target and credential, and what the state says of them now. */
export interface Choice {
  readonly target: Target;
  readonly credential: number;
  readonly health: UpstreamHealth;
  readonly verdict: Verdict;
}

export interface Pauses {
  /** When the first pause ends; Infinity: none does. */
  readonly soonestMs: number;
  /** The first whose pause is only guessed, so that one call may find out; null: none. */
  readonly trial: Choice | null;
  /** What keeps the first one away; null: nothing pauses. */
  readonly reason: FailureClass | null;
}

export class CandidateWalk {
  readonly #state: RoutingState;
  readonly #candidates: readonly PlanCandidate[];
  /** Targets that failed, and single credentials of them. */
  #barred: { readonly target: Target; readonly credential: number | null }[] | null = null;
  /** The context of a target that was too small for the call; undefined: none was. */
  #outgrown: number | null | undefined;

  constructor(state: RoutingState, candidates: readonly PlanCandidate[]) {
    this.#state = state;
    this.#candidates = candidates;
  }

  /** The first that can be used; without one, the first with an open breaker. `except`: a target to leave out. */
  find(nowMs: number, except: Target | null): Choice | null {
    let open: Choice | null = null;
    for (const candidate of this.#candidates) {
      const { target } = candidate;
      if (candidate.verdict === 'filtered' || target === except || !this.#isLargeEnough(target)) continue;
      const health = this.#state.of(target);
      for (const credential of candidate.credentials ?? target.upstream.credentials.keys()) {
        if (this.#isBarred(target, credential)) continue;
        const verdict = health.verdict(credential, nowMs);
        if (verdict === 'usable' || verdict === 'probe') return { target, credential, health, verdict };
        if (verdict === 'open') open ??= { target, credential, health, verdict };
      }
    }
    return open;
  }

  /** The candidates that may come back, without those that failed. */
  pauses(nowMs: number): Pauses {
    let soonestMs = Number.POSITIVE_INFINITY;
    let trial: Choice | null = null;
    let reason: FailureClass | null = null;
    for (const candidate of this.#candidates) {
      const { target } = candidate;
      if (candidate.verdict === 'filtered' || !this.#isLargeEnough(target)) continue;
      const health = this.#state.of(target);
      for (const credential of target.upstream.credentials.keys()) {
        const verdict = health.verdict(credential, nowMs);
        if (this.#isBarred(target, credential) || (verdict !== 'cooling' && verdict !== 'benched')) continue;
        reason ??= health.reason(credential, nowMs);
        if (verdict === 'cooling') soonestMs = Math.min(soonestMs, health.untilMs(credential));
        if (health.takesTrial(credential, nowMs)) trial ??= { target, credential, health, verdict };
      }
    }
    return { soonestMs, trial, reason };
  }

  /** Whether any target of the route works as usual. */
  isAnyClosed(): boolean {
    return this.#candidates.some(
      ({ target, verdict }) => verdict !== 'filtered' && this.#state.of(target).target.isClosed,
    );
  }

  /** Leaves out a credential of a target from now on; null: the whole target. */
  bar(target: Target, credential: number | null): void {
    this.#barred ??= [];
    this.#barred.push({ target, credential });
  }

  /** Leaves out the other credentials of the organisation from now on: they share its limits. */
  barOrganisation(target: Target, credential: number): void {
    const { credentials } = target.upstream;
    const organisation = credentials[credential]?.organisation ?? null;
    if (organisation === null) return;
    for (const [index, one] of credentials.entries()) {
      if (index !== credential && one.organisation === organisation) this.bar(target, index);
    }
  }

  /** Leaves out targets that are not known to take more input than this one. */
  outgrow({ traits }: Target): void {
    this.#outgrown = traits.inputTokensMax;
  }

  #isBarred(target: Target, credential: number): boolean {
    if (this.#barred === null) return false;
    return this.#barred.some((one) => one.target === target && (one.credential ?? credential) === credential);
  }

  /** As far as is known; where the one that was too small is unknown, only a known one counts. */
  #isLargeEnough({ traits: { inputTokensMax } }: Target): boolean {
    if (this.#outgrown === undefined) return true;
    if (inputTokensMax === null) return this.#outgrown !== null;
    return this.#outgrown === null || inputTokensMax > this.#outgrown;
  }
}
