/**
 * Checks the models that a request names in addition to its own: whether the caller may use them, and by which route
 * they are priced. Contract, 10.2. Chooses no upstream: the provider of the request's own model runs them.
 */

import { CallFailure } from '../../errors/call-failure.ts';
import { mayUseModel, type Principal } from '../../identity/principal.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import type { NamedModel, PricedMembers } from '../../protocols/request/request-facts.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { Settings } from '../deps.ts';

/** A model at the provider of the request's own model. */
interface Sibling {
  readonly route: Route;
  readonly target: Target;
}

/** An additionally named model, and the target whose price it has. */
export interface NamedTarget extends Sibling {
  readonly named: NamedModel;
}

/** The named models of a request in the client's own format, after the caller's rights to them were checked. */
export interface PricedRequest {
  readonly members: PricedMembers;
  readonly named: readonly NamedTarget[];
}

interface ModelCaller {
  readonly principal: Principal;
  readonly route: Route;
  readonly target: Target;
  readonly protocol: ClientProtocolName;
  /** The data tags that every target of the request must have. */
  readonly tags: readonly string[];
}

/**
 * Throws as for `model` if a named model is not served by the same provider (`model_unknown`), not allowed or without
 * the required data tags (`model_forbidden`) or not served over the protocol (`model_wrong_protocol`). A name goes
 * upstream as written, so it must be the provider's own name, even if it looks like a public one.
 */
export function allowNamedModels(
  { routes }: Pick<Settings, 'routes'>,
  caller: ModelCaller,
  members: PricedMembers,
): PricedRequest {
  const { provider } = caller.target.upstream;
  const siblings = [...new Set(routes.values())].flatMap((route) =>
    route.targets.filter(({ upstream }) => upstream.provider === provider).map((target) => ({ route, target })),
  );
  const named = members.models.map((model) => ({ named: model, ...findSibling(siblings, caller, model) }));
  if (members.anyModel !== null) named.push(...allowAll(siblings, caller, members.anyModel));
  return { members, named };
}

function findSibling(siblings: readonly Sibling[], caller: ModelCaller, { name, path, role }: NamedModel): Sibling {
  const shown = JSON.stringify(name);
  const found = siblings.filter(({ target }) => target.upstream.model === name);
  if (found.length === 0) {
    throw new CallFailure(
      'model_unknown',
      `${path}: the model ${shown} is not served here by the provider of ${JSON.stringify(caller.route.model)}. Name a model of the same provider, by the provider's own name; GET /v1/models lists what this key may use`,
      { param: path },
    );
  }
  const allowed = found.filter(({ route }) => mayUseModel(caller.principal, route.names));
  if (allowed.length === 0) {
    throw new CallFailure(
      'model_forbidden',
      `${path}: this API key may not use the model ${shown}. GET /v1/models lists what it may use`,
      { param: path },
    );
  }
  const tagged = allowed.filter((sibling) => hasTags(sibling, caller));
  if (tagged.length === 0) {
    throw new CallFailure(
      'model_forbidden',
      `${path}: the model ${shown} does not have the required data tags (${caller.tags.join(', ')})`,
      { param: path },
    );
  }
  // What draws vectors for a model of images answers no images itself.
  const isHelper = caller.protocol === 'images' && role === 'beside';
  const spoken = tagged.find(({ route }) => isHelper || route.protocols.includes(caller.protocol));
  if (spoken !== undefined) return spoken;
  throw new CallFailure('model_wrong_protocol', `${path}: the model ${shown} is not served on this endpoint`, {
    param: path,
  });
}

function hasTags({ target }: Sibling, { tags }: ModelCaller): boolean {
  return tags.every((tag) => target.tags.includes(tag));
}

/** Upstream chooses the model itself: allowed only if the request may go to all possible choices. */
function allowAll(siblings: readonly Sibling[], caller: ModelCaller, path: string): NamedTarget[] {
  const refuse = (why: string) =>
    new CallFailure('model_forbidden', `${path}: it lets the provider choose a model, and ${why}`, { param: path });
  if (siblings.some(({ route }) => !mayUseModel(caller.principal, route.names))) {
    throw refuse('this API key may not use all of them. Name the models that it may use');
  }
  if (siblings.some((sibling) => !hasTags(sibling, caller))) {
    throw refuse(`not all of them have the required data tags (${caller.tags.join(', ')}). Name models that do`);
  }
  return siblings.map(({ route, target }) => {
    const { model: name } = target.upstream;
    return { named: { path, name, role: 'instead', tier: {}, outputTokensMax: null, runs: 1 }, route, target };
  });
}
