/**
 * Serves the routing preview: where a request would go, what would follow a failure, and why not elsewhere. Operators see
 * states, costs and credentials; others see the order of the targets.
 */

import type { CallDeps } from '../../call/deps.ts';
import { type ExplainedRoute, explainRequest, type RouteQuery } from '../../call/explain-route.ts';
import { outSince } from '../../config/console-entries.ts';
import type { ServedTarget } from '../../config/served-models.ts';
import type { ExplanationView } from '../../control/routing/routing-shapes.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { OPERATOR_ACCOUNT } from '../../people/roles.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { readStates, type StateParts } from './routing-states.ts';

export interface ExplainParts {
  readonly states: StateParts;
  deps(): Pick<CallDeps, 'directory' | 'settings' | 'billing' | 'choice' | 'routing'>;
}

type ExplainedTarget = ExplanationView['targets'][number];

/** The handlers of the preview for operators. */
export function explainHandlers(parts: ExplainParts) {
  return {
    'POST /accounts/{account}/routes/explain': async ({ body }) => {
      const { model, protocol, key, request, session } = body;
      if (key !== undefined && !parts.deps().directory.keys.has(key)) {
        throw new ConsoleFailure('not_found', 'there is no such key', { member: 'key' });
      }
      return explain(parts, {
        model,
        protocol: protocol ?? null,
        keyId: key ?? null,
        account: OPERATOR_ACCOUNT,
        body: request ?? null,
        session: session ?? null,
      });
    },
  } satisfies Partial<Handlers>;
}

/** The whole explanation, for operators. */
export async function explain(parts: ExplainParts, query: RouteQuery): Promise<ExplanationView> {
  const { steadyMs, unixMs } = parts.states.clocks();
  const explained = await explainRequest(parts.deps(), query, unixMs);
  const { explanation, refusal, route, protocol } = explained;
  const timeOf = (atMs: number) => new Date(unixMs + Math.round(atMs - steadyMs)).toISOString();
  return {
    model: route?.model ?? query.model,
    protocol,
    strategy: explanation?.strategy ?? null,
    pin: explanation?.pin ?? null,
    needs: [...(explanation?.needs ?? [])],
    required_tags: [...(explanation?.tags ?? [])],
    input_tokens: explanation?.inputTokens ?? null,
    refusal,
    targets: [...explainTargets(parts, explained, timeOf), ...resting(parts, explained)],
  };
}

function explainTargets(
  { states }: ExplainParts,
  { explanation, route }: ExplainedRoute,
  timeOf: (atMs: number) => string,
): ExplainedTarget[] {
  if (explanation === null || route === null) return [];
  const known = new Map(
    readStates(states)
      .targets.filter(({ model }) => model === route.model)
      .map((one) => [one.target, one]),
  );
  return explanation.targets.map((one) => {
    const upstream = route.targets.find(({ name }) => name === one.target)?.upstream;
    const state = known.get(one.target);
    return {
      target: one.target,
      provider: upstream?.provider ?? '',
      upstream_model: upstream?.model ?? '',
      priority: one.priority,
      verdict: one.verdict,
      why: one.why,
      until: one.untilMs === null ? null : timeOf(one.untilMs),
      lacks: one.lacks,
      credential: one.credential,
      estimate_nano_usd: one.estimate?.toString() ?? null,
      cache: one.cache,
      cold_cache_nano_usd: one.coldCache.toString(),
      strips: one.strips,
      state: state?.state ?? 'closed',
      faults: state?.faults ?? 0,
      outcomes: state?.outcomes ?? 0,
      last_failure: state?.why ?? null,
    };
  });
}

/** The targets that are out of rotation, which calls do not know. */
function resting({ states }: ExplainParts, { route }: ExplainedRoute): ExplainedTarget[] {
  const running = states.models.running();
  const model = route === null ? undefined : running.models.get(route.model);
  return (model?.targets ?? []).flatMap((target: ServedTarget): ExplainedTarget[] => {
    const sinceMs = outSince(running, { kind: 'target', owner: model?.name ?? '', name: target.name });
    if (sinceMs === null || route?.targets.some(({ name }) => name === target.name) === true) return [];
    return [
      {
        target: target.name,
        provider: target.provider.name,
        upstream_model: target.model,
        priority: target.priority,
        verdict: 'skipped',
        why: 'out',
        until: null,
        lacks: null,
        credential: null,
        estimate_nano_usd: null,
        cache: 'cold',
        cold_cache_nano_usd: '0',
        strips: null,
        state: 'out',
        faults: 0,
        outcomes: 0,
        last_failure: null,
      },
    ];
  });
}
