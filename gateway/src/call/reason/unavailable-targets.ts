/** Says why targets of a call's route could not take it, for its reason. Runs only where nothing is left to try. */
import type { ReasonTarget } from '../../errors/reason.ts';
import { maskKeys } from '../../lib/secret.ts';
import type { Target } from '../../routing/route.ts';
import type { Routed } from '../call.ts';

const TARGETS_MAX = 10;

/** The targets that were not tried. `isRefused`: no attempt was made, so a target that works was full. */
export function unavailableTargets(
  { candidates, attempts, deps, atMs, startMs }: Routed,
  isRefused: boolean,
): readonly ReasonTarget[] {
  const nowMs = performance.now();
  const timeOf = (steadyMs: number) => new Date(Math.round(atMs + steadyMs - startMs)).toISOString();
  const found: ReasonTarget[] = [];
  for (const { target, verdict } of candidates) {
    if (found.length === TARGETS_MAX) break;
    if (verdict === 'filtered' || attempts.some((row) => isAt(row, target))) continue;
    const { provider, model, credentials } = target.upstream;
    const health = deps.routing.of(target);
    const states = credentials.map((_, index) => ({
      verdict: health.verdict(index, nowMs),
      untilMs: health.untilMs(index),
    }));
    // The credential that comes back first says when the target does.
    const first = states.find((one) => one.verdict === 'usable' || one.verdict === 'probe') ?? soonest(states);
    const state = stateOf(first?.verdict ?? 'benched');
    if (state === 'full' && !isRefused) continue;
    const untilMs = state === 'full' ? Number.NaN : (first?.untilMs ?? Number.NaN);
    const until = Number.isFinite(untilMs) && untilMs > nowMs ? { until: timeOf(untilMs) } : {};
    found.push({ provider, model: maskKeys(model), state, ...until });
  }
  return found;
}

function isAt(
  { provider, model }: { readonly provider: string; readonly model: string },
  { upstream }: Target,
): boolean {
  return provider === upstream.provider && model === upstream.model;
}

function soonest<State extends { readonly untilMs: number }>(states: readonly State[]): State | undefined {
  return states.reduce<State | undefined>(
    (best, one) => (best === undefined || one.untilMs < best.untilMs ? one : best),
    undefined,
  );
}

function stateOf(verdict: string): ReasonTarget['state'] {
  return verdict === 'open' || verdict === 'cooling' || verdict === 'benched' ? verdict : 'full';
}
