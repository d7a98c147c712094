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

/** The targets and credentials that a call leaves out, because they failed it. */
export class Barred {
  /** Whole targets, and single credentials of targets. */
  readonly #barred: { readonly target: Target; readonly credential: number | null }[] = [];
  /** The context of a target that was too small for the call; undefined: none was. */
  #outgrown: number | null | undefined;

  /** Leaves out a credential of a target from now on; null: the whole target. */
  bar(target: Target, credential: number | null): void {
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

  has(target: Target, credential: number): boolean {
    return (
      !this.#isLargeEnough(target) ||
      this.#barred.some((one) => one.target === target && (one.credential ?? credential) === credential)
    );
  }

  /** As far as is known; where the one that was too small is unknown, only a known one counts. */
  #isLargeEnough({ traits: { inputTokensMax } }: Target): boolean {
    if (this.#outgrown === undefined) return true;
    if (inputTokensMax === null) return this.#outgrown !== null;
    return this.#outgrown === null || inputTokensMax > this.#outgrown;
  }
}

/**
 * The first candidate that can be used; without one, the first with an open breaker. `barred` null: nothing failed.
 * `except`: a target to leave out.
 */
export function findCandidate(
  state: RoutingState,
  candidates: readonly PlanCandidate[],
  barred: Barred | null,
  nowMs: number,
  except: Target | null = null,
): Choice | null {
  let open: Choice | null = null;
  for (const { target, verdict, credentials } of candidates) {
    if (verdict === 'filtered' || target === except) continue;
    const health = state.of(target);
    for (const credential of credentials ?? target.upstream.credentials.keys()) {
      if (barred?.has(target, credential) === true) continue;
      const found = health.verdict(credential, nowMs);
      if (found === 'usable' || found === 'probe') return { target, credential, health, verdict: found };
      if (found === 'open') open ??= { target, credential, health, verdict: found };
    }
  }
  return open;
}

/** The candidates that may come back, without those that failed. */
export function findPauses(
  state: RoutingState,
  candidates: readonly PlanCandidate[],
  barred: Barred,
  nowMs: number,
): Pauses {
  let soonestMs = Number.POSITIVE_INFINITY;
  let trial: Choice | null = null;
  let reason: FailureClass | null = null;
  for (const candidate of candidates) {
    const { target } = candidate;
    if (candidate.verdict === 'filtered') continue;
    const health = state.of(target);
    for (const credential of target.upstream.credentials.keys()) {
      const verdict = health.verdict(credential, nowMs);
      if (barred.has(target, credential) || (verdict !== 'cooling' && verdict !== 'benched')) continue;
      reason ??= health.reason(credential, nowMs);
      if (verdict === 'cooling') soonestMs = Math.min(soonestMs, health.untilMs(credential));
      if (health.takesTrial(credential, nowMs)) trial ??= { target, credential, health, verdict };
    }
  }
  return { soonestMs, trial, reason };
}

/** Whether any target of the route works as usual. */
export function isAnyClosed(state: RoutingState, candidates: readonly PlanCandidate[]): boolean {
  return candidates.some(({ target, verdict }) => verdict !== 'filtered' && state.of(target).target.isClosed);
}
