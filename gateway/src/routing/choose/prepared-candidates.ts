/**
 * Prepares what the choice says of a route while nothing speaks against its targets, so that most calls choose without
 * a new object. The same list every time.
 */
import type { Route } from '../route.ts';
import type { HealthView, UsableCandidate } from './candidate.ts';
import { countMisfits, filterReason } from './filter-target.ts';
import type { RoutedRequest } from './routed-request.ts';

const prepared = new WeakMap<Route['targets'], readonly UsableCandidate[]>();

/** The candidates of a route with one target and one credential; null: there is something to choose. */
export function onlyCandidate({ targets }: Route): readonly UsableCandidate[] | null {
  const [{ upstream }] = targets;
  return targets.length > 1 || upstream.credentials.length > 1 ? null : prepare(targets);
}

/** The parts of the choice's state that may speak against a target. */
interface ReadState {
  readonly health: HealthView;
  readonly affinity: { find(key: number): object | undefined };
  readonly queues: { isFull(target: Route['targets'][number]): boolean };
}

/**
 * The candidates of a route by `order` whose targets can all carry the request and take it now, each with one
 * credential. Null: this call needs a decision.
 */
export function usualCandidates(
  { routing, targets }: Route,
  request: RoutedRequest,
  { health, affinity, queues }: ReadState,
  nowMs: number,
): readonly UsableCandidate[] | null {
  if (routing.strategy !== 'order') return null;
  if (request.conversation !== null && affinity.find(request.conversation) !== undefined) return null;
  for (const target of targets) {
    const state = health.of(target);
    const isUsual =
      target.upstream.credentials.length === 1 &&
      state.verdict(0, nowMs) === 'usable' &&
      state.share(nowMs) === 1 &&
      !queues.isFull(target) &&
      filterReason(target, request, false) === null &&
      countMisfits(target, request) === 0;
    if (!isUsual) return null;
  }
  return prepare(targets);
}

const ONLY_CREDENTIAL: readonly number[] = [0];

function prepare(targets: Route['targets']): readonly UsableCandidate[] {
  const known = prepared.get(targets);
  if (known !== undefined) return known;
  const sorted = [...targets].sort(
    (one, other) => one.priority - other.priority || Number(one.weight === 0) - Number(other.weight === 0),
  );
  const candidates = sorted.map(
    (target, place): UsableCandidate => ({
      target,
      credential: 0,
      credentials: ONLY_CREDENTIAL,
      verdict: place === 0 ? 'chosen' : 'fallback',
      why: place === 0 ? 'order' : 'fallback',
      notBeforeMs: 0,
    }),
  );
  prepared.set(targets, candidates);
  return candidates;
}
