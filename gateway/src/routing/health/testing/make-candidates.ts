/** Creates targets and candidates for tests of states and plans; nothing is sent to them. */
import { bookOf } from '../../../billing/price-book.ts';
import { DEFAULT_ROUTING } from '../../../config/config.ts';
import { demo, localProvider } from '../../../providers/demo.ts';
import type { Timeouts } from '../../../providers/provider.ts';
import { openUpstream } from '../../../providers/upstream.ts';
import type { PlanCandidate, PlannedCall } from '../../planned-call.ts';
import type { Route, Target } from '../../route.ts';
import { traitsOf } from '../../upstream-traits.ts';

const DEMO = { provider: localProvider('demo', demo), model: 'm', timeouts: null };

export interface TargetPlan {
  readonly provider?: string;
  readonly origin?: string;
  /** Names of its credentials. */
  readonly keys?: readonly string[];
  readonly inputTokensMax?: number | null;
  readonly timeouts?: Timeouts | null;
  readonly model?: string;
}

export function makeTarget(name: string, plan: TargetPlan = {}): Target {
  const { provider = name, origin = `https://${provider}`, keys = ['default'], timeouts = null, model = name } = plan;
  const [first = 'default', ...others] = keys;
  const credentialOf = (key: string) => ({ name: key, weight: 1, organisation: null, key: `${provider} ${key}` });
  return {
    name,
    priority: 1,
    weight: null,
    maxConcurrency: null,
    tags: [],
    upstream: {
      ...openUpstream(DEMO),
      provider,
      model,
      key: `${provider} ${model}`,
      origin,
      timeouts,
      credentials: [credentialOf(first), ...others.map(credentialOf)],
    },
    traits: { ...traitsOf(DEMO, null), inputTokensMax: plan.inputTokensMax ?? null },
    hiddenReasoning: 'never',
    catalog: null,
    prices: bookOf(null),
  };
}

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

/** A route of targets with these names. */
export function makeRoute(plans: Readonly<Record<string, TargetPlan>>, routing: Partial<Route['routing']> = {}): Route {
  const [first, ...others] = Object.entries(plans).map(([name, plan]) => makeTarget(name, plan));
  if (first === undefined) throw new Error('a route needs a target');
  return {
    model: 'm',
    names: ['m'],
    protocols: ['chat', 'messages'],
    routing: { ...DEFAULT_ROUTING, strategy: 'order', ...routing },
    targets: [first, ...others],
  };
}
