/** Serves the live states of providers, targets and credentials: of this process, since its start. */
import { outSince } from '../../config/console-entries.ts';
import type { StatesView } from '../../control/routing/routing-shapes.ts';
import { viewCredentials } from '../../control/routing/routing-views.ts';
import type { ChoiceState } from '../../routing/choose/choose.ts';
import type { CredentialSnapshot, RoutingState, TargetSnapshot } from '../../routing/health/routing-state.ts';
import type { Target } from '../../routing/route.ts';
import type { Handlers } from '../kernel/handlers.ts';
import type { ModelDeps, Running } from './model-deps.ts';

export interface StateParts {
  readonly models: Pick<ModelDeps, 'running' | 'readHealth'>;
  readonly states: Pick<RoutingState, 'snapshot'>;
  readonly choice: Pick<ChoiceState, 'headroom'>;
  /** The clocks of the states (monotonic) and of people (unix), both in ms. */
  clocks(): { readonly steadyMs: number; readonly unixMs: number };
}

type TargetView = StatesView['targets'][number];
type CredentialView = StatesView['credentials'][number];

/** The handlers of the route about states. */
export function stateHandlers(parts: StateParts) {
  return {
    'GET /accounts/{account}/routing/states': async () => readStates(parts),
  } satisfies Partial<Handlers>;
}

/** The states now. */
export function readStates({ models, states, choice, clocks }: StateParts): StatesView {
  const running = models.running();
  const { steadyMs, unixMs } = clocks();
  const timeOf = (atMs: number) => new Date(unixMs + Math.round(atMs - steadyMs)).toISOString();
  const snapshot = states.snapshot(steadyMs);
  const known = new Map(snapshot.targets.map((target) => [target.key, target]));
  const live = liveTargets(running);
  const credentials = new Map(snapshot.credentials.map((one) => [`${one.provider}/${one.name}`, one]));
  return {
    at: new Date(unixMs).toISOString(),
    providers: [
      ...running.config.providers.keys(),
      ...running.providers.flatMap(({ provider }) => provider?.name ?? []),
    ].map((name) => {
      const { state, calls, errors, ttfbP50Ms } = models.readHealth(name);
      return { name, state, calls, errors, ttfb_p50_ms: ttfbP50Ms };
    }),
    targets: [...new Set(running.models.values())].flatMap((model) =>
      model.targets.flatMap((target): TargetView[] => {
        const { upstream } = live.get(`${model.name} ${target.name}`) ?? {};
        const found = upstream === undefined ? undefined : known.get(upstream.key);
        const isOut = outSince(running, { kind: 'target', owner: model.name, name: target.name }) !== null;
        if (found === undefined && !isOut && model.targets.length === 1) return [];
        const place = { model: model.name, target: target.name, provider: target.provider.name };
        return [{ ...place, upstream_model: target.model, ...stateOf(found, isOut, timeOf) }];
      }),
    ),
    credentials: viewCredentials(running, null).map(({ provider, name, out_of_rotation_since }): CredentialView => {
      const found = credentials.get(`${provider}/${name}`);
      return {
        provider,
        name,
        ...credentialState(found, out_of_rotation_since !== null, timeOf),
        headroom: headroomOf(choice, [...live.values()], provider, name, { known, steadyMs }),
      };
    }),
    limping: snapshot.limping.map(({ route, sinceMs }) => ({ model: route, since: timeOf(sinceMs) })),
  };
}

/** The targets that calls use, by `model target`. */
function liveTargets({ settings }: Running): ReadonlyMap<string, Target> {
  const routes = new Set(settings.routes.values());
  return new Map([...routes].flatMap(({ model, targets }) => targets.map((one) => [`${model} ${one.name}`, one])));
}

type TimeOf = (atMs: number) => string;

function stateOf(
  found: TargetSnapshot | undefined,
  isOut: boolean,
  timeOf: TimeOf,
): Omit<TargetView, 'model' | 'target' | 'provider' | 'upstream_model'> {
  return {
    state: isOut ? 'out' : (found?.state ?? 'closed'),
    until: isOut || found?.untilMs == null ? null : timeOf(found.untilMs),
    why: found?.lastFailure ?? null,
    faults: found?.faults ?? 0,
    outcomes: found?.outcomes ?? 0,
    trips: found?.trips ?? 0,
    share: found?.share ?? 1,
    open_calls: found?.open ?? 0,
    overdue_calls: found?.overdue ?? 0,
    retries_left: found?.retriesLeft ?? 0,
    latency_ms: found?.latencyMs == null ? null : Math.round(found.latencyMs),
  };
}

function credentialState(
  found: CredentialSnapshot | undefined,
  isOut: boolean,
  timeOf: TimeOf,
): Omit<CredentialView, 'provider' | 'name' | 'headroom'> {
  const pauses = found?.cooling ?? [];
  const cooling = pauses.map(({ model, untilMs, isGuess }) => ({
    upstream_model: model,
    until: timeOf(untilMs),
    is_guess: isGuess,
  }));
  const open_calls = found?.open ?? 0;
  if (isOut) return { state: 'out', why: null, until: null, open_calls, cooling };
  if (found?.state === 'benched') {
    const until = found.untilMs === null ? null : timeOf(found.untilMs);
    return { state: 'benched', why: found.why, until, open_calls, cooling };
  }
  if (cooling.length === 0) return { state: 'usable', why: null, until: null, open_calls, cooling };
  const untilMs = Math.max(...pauses.map((pause) => pause.untilMs));
  return { state: 'cooling', why: 'rate', until: timeOf(untilMs), open_calls, cooling };
}

/** By model, for targets that were used and whose provider stated limits. */
function headroomOf(
  { headroom }: StateParts['choice'],
  targets: readonly Target[],
  provider: string,
  name: string,
  { known, steadyMs }: { readonly known: ReadonlyMap<string, TargetSnapshot>; readonly steadyMs: number },
): CredentialView['headroom'] {
  const byModel = new Map<string, number>();
  for (const { upstream } of targets) {
    if (upstream.provider !== provider || !known.has(upstream.key)) continue;
    const index = upstream.credentials.findIndex((credential) => credential.name === name);
    const share = index === -1 ? null : headroom.statedShareOf(upstream, index, steadyMs);
    if (share !== null) byModel.set(upstream.model, Math.max(0, share));
  }
  return [...byModel].map(([upstream_model, share]) => ({ upstream_model, share }));
}
