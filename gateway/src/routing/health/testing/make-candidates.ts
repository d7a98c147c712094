/** Creates candidates and calls for tests of states and plans; nothing is sent to them. */
import type { PlanCandidate, PlannedCall } from '../../planned-call.ts';
import type { Target } from '../../route.ts';

/** The targets in their order, as a choice by `order` returns them. */
export function makeCandidates(targets: readonly Target[]): readonly PlanCandidate[] {
  return targets.map((target, place) =>
    place === 0 ? { target, verdict: 'chosen', why: 'order' } : { target, verdict: 'fallback', why: 'fallback' },
  );
}

/** A plain call of one workspace with an hour to live. */
export function makeCall(given: Partial<PlannedCall> = {}): PlannedCall {
  return {
    route: { model: 'm' },
    routing: { strategy: 'order', maxExtraAttempts: 2, uncertainRetry: 500_000_000n, fallbackOn: [] },
    workspace: 'w',
    isStream: false,
    requestBytes: 1_000,
    endMs: 3_600_000,
    ...given,
  };
}
