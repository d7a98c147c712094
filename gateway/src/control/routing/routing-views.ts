/** Renders routes and the credentials of providers for operators. Never contains a secret. */
import { formatNanoUsd } from '../../billing/money.ts';
import { outSince, type Served, sourceOfConfigured, sourceOfModel } from '../../config/console-entries.ts';
import { lastFour } from '../../config/console-providers.ts';
import { type ServedModel, type ServedTarget, servedProtocols } from '../../config/served-models.ts';
import type { StoredCredential, StoredRoute } from '../../store/ports/providers.ts';
import type { ShownMembers } from '../policy-changes.ts';
import type { CredentialView, RouteView } from './routing-shapes.ts';

/** Every route: the served models, each once, then the entries that are not used. */
export function viewRoutes(served: Served): RouteView[] {
  const unused = served.routes.filter(({ model }) => model === null);
  return [
    ...[...new Set(served.models.values())].map((model) => viewRoute(model, served)),
    ...unused.map(
      ({ entry, problem }): RouteView => ({
        model: entry.model,
        source: 'console',
        served: false,
        aliases: [],
        protocols: [],
        routing: null,
        targets: [],
        definition: shownDefinitionOf(entry),
        problem,
      }),
    ),
  ];
}

/** Renders a served model; `definition`: as it was entered; null: it was not entered in the console. */
export function viewRoute(model: ServedModel, served: Served): RouteView {
  const { strategy, affinity, maxExtraAttempts, uncertainRetry, hedge, fallbackOn } = model.routing;
  const entered = served.routes.find((route) => route.model === model);
  return {
    model: model.name,
    source: sourceOfModel(model, served),
    served: true,
    aliases: model.alias.map(({ name }) => name),
    protocols: [...servedProtocols(model)],
    routing: {
      strategy,
      affinity,
      max_extra_attempts: maxExtraAttempts,
      uncertain_retry: formatNanoUsd(uncertainRetry),
      hedge: hedge ? 'on' : 'off',
      fallback_on: [...fallbackOn],
    },
    targets: model.targets.map((target) => viewTarget(model, target, served)),
    definition: entered === undefined ? null : shownDefinitionOf(entered.entry),
    problem: entered?.problem ?? null,
  };
}

/** A definition is checked when it is entered. */
function shownDefinitionOf({ definition }: StoredRoute): RouteView['definition'] {
  return definition as unknown as RouteView['definition'];
}

function viewTarget(model: ServedModel, target: ServedTarget, served: Served): RouteView['targets'][number] {
  const { name, provider, priority, weight, maxConcurrency, tags, timeouts } = target;
  return {
    name,
    provider: provider.name,
    model: target.model,
    priority,
    weight,
    max_concurrency: maxConcurrency,
    tags: [...tags],
    timeouts_ms:
      timeouts === null
        ? null
        : {
            connect: timeouts.connectMs,
            first_byte: timeouts.firstByteMs,
            first_byte_plain: timeouts.firstBytePlainMs,
            idle: timeouts.idleMs,
            total: timeouts.totalMs,
          },
    has_own_price: target.price !== null,
    out_of_rotation_since: timeOf(outSince(served, { kind: 'target', owner: model.name, name })),
  };
}

/** The credentials of all providers; `provider`: of one. */
export function viewCredentials(served: Served, provider: string | null): CredentialView[] {
  const configured = [...served.config.providers.values()].flatMap(({ name, credentials }) =>
    (credentials?.pool ?? []).map((credential) => ({ ...credential, provider: name, entry: null })),
  );
  const entered = served.providers
    .filter(({ entry }) => !served.config.providers.has(entry.name))
    .flatMap(({ credentials }) => credentials.map((entry) => ({ ...entry, entry })));
  return [...configured, ...entered]
    .filter((one) => provider === null || one.provider === provider)
    .map((one) => ({
      provider: one.provider,
      name: one.name,
      source: one.entry === null ? sourceOfConfigured(served.config.providersFrom) : 'console',
      last4: one.entry === null ? ('secrets' in one ? lastFour(one.secrets) : null) : one.entry.last4,
      weight: one.weight,
      organisation: one.organisation,
      models: one.models === null ? null : [...one.models],
      out_of_rotation_since: timeOf(outSince(served, { kind: 'credential', owner: one.provider, name: one.name })),
      created_at: timeOf(one.entry?.createdAtMs ?? null),
      updated_at: timeOf(one.entry?.updatedAtMs ?? null),
    }));
}

/** Renders an entered credential for the audit trail: the members that can change. */
export function viewEntered({ last4, weight, organisation, models }: StoredCredential): ShownMembers {
  return { last4, weight, organisation, models };
}

function timeOf(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
