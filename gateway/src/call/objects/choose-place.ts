/**
 * Chooses the provider and the credential for an object that a client creates, and finds those that keep an existing one.
 * Source: contract, 10.12.
 */
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { mayUseModel } from '../../identity/principal.ts';
import type { Collection } from '../../protocols/stored/shared-state.ts';
import type { StoredReference } from '../../protocols/stored/stored-references.ts';
import type { Target } from '../../routing/route.ts';
import type { Identified } from '../call.ts';
import { readRequiredTags } from '../request/choose-targets.ts';
import { keyOf, leadTo, type Rows } from '../stored/lead-to-stored.ts';
import { refuseReference } from '../stored/refuse-reference.ts';
import { missingObject, noCollection } from './object-routes.ts';

/** A target of the provider, and the index of the credential that keeps the object. */
export interface ObjectPlace {
  readonly target: Target;
  readonly credential: number;
}

/** The header by which a client names the provider, where several would do. */
const PROVIDER_HEADER = 'x-tollgate-provider';

/** Targets of the providers that have the collection in the client's form. */
export function targetsWith({ settings, protocol }: Identified, collection: Collection): readonly Target[] {
  const format = protocol.name === 'messages' ? 'messages' : 'responses';
  const targets = [...settings.routes.values()].flatMap((route) => route.targets);
  return [...new Set(targets)].filter(
    ({ upstream }) => upstream.state.format === format && upstream.state.creates.includes(collection),
  );
}

/** Those of the targets that serve a model that the key may use, and have the data tags that the request requires. */
function allowedOf(call: Identified, targets: readonly Target[]): readonly Target[] {
  const { settings, principal, request } = call;
  const tags = readRequiredTags(request.headers, principal.requiredTags);
  const allowed = new Set<Target>();
  for (const { names, targets: ofRoute } of new Set(settings.routes.values())) {
    if (mayUseModel(principal, names)) for (const target of ofRoute) allowed.add(target);
  }
  return targets.filter((target) => allowed.has(target) && tags.every((tag) => target.tags.includes(tag)));
}

/**
 * The place for a new object: at the only provider that has the collection, that of a header, or that which keeps what the
 * request names. Always its first credential, so that what a workspace creates there can be used together. Throws
 * CallFailure `not_found` or `invalid_request`.
 */
export function placeForNew(
  call: Identified,
  collection: Collection,
  named: readonly StoredReference[] = [],
  rows: Rows = new Map(),
): ObjectPlace {
  const targets = allowedOf(call, targetsWith(call, collection));
  if (targets.length === 0) throw noCollection(collection);
  const wanted = call.request.headers.get(PROVIDER_HEADER);
  const chosen = wanted === null ? targets : targets.filter(({ upstream }) => upstream.provider === wanted);
  if (chosen.length === 0) throw ambiguous(JSON.stringify(wanted?.slice(0, 80)), targets);
  const fitting = leadAll(call, chosen, named, rows);
  const [target] = fitting;
  if (target === undefined) throw refuse(named, rows);
  if (providersOf(fitting).length > 1) throw ambiguous('no such header', fitting);
  return {
    target,
    credential: Math.max(
      0,
      target.upstream.credentials.findIndex(({ weight }) => weight > 0),
    ),
  };
}

/**
 * The place of an object of the workspace, with everything else that the request names. `object` is one of `named`, and has
 * a row. Throws CallFailure `not_found` or `invalid_request`.
 */
export function placeOf(
  call: Identified,
  collection: Collection,
  object: StoredReference,
  others: readonly StoredReference[],
  rows: Rows,
): ObjectPlace {
  const own = leadAll(call, targetsWith(call, collection), [object], rows);
  if (own.length === 0 || !rows.has(keyOf(object))) throw missingObject(collection);
  const [target] = leadAll(call, own, others, rows);
  if (target === undefined) throw refuse(others, rows);
  return { target, credential: 0 };
}

/** Throws CallFailure `not_found` where the provider of an object gets no new ones of the caller: it gets no content either. */
export function allowContent(
  call: Identified,
  collection: Collection,
  { provider }: { readonly provider: string },
): void {
  const targets = allowedOf(call, targetsWith(call, collection));
  if (targets.every(({ upstream }) => upstream.provider !== provider)) throw noCollection(collection);
}

function leadAll(
  { principal }: Identified,
  targets: readonly Target[],
  named: readonly StoredReference[],
  rows: Rows,
): readonly Target[] {
  return targets.flatMap((target) => leadTo(target, named, rows, principal.workspaceId));
}

function refuse(named: readonly StoredReference[], rows: Rows): CallFailure {
  const foreign = named.find((one) => !rows.has(keyOf(one)));
  if (foreign !== undefined) return refuseReference(foreign);
  const path = named[0]?.path ?? '';
  return invalidRequest(
    `${path}: is stored at another account of a provider than the rest of this request; send the content itself`,
    path,
  );
}

function ambiguous(found: string, targets: readonly Target[]): CallFailure {
  const names = providersOf(targets).join(', ');
  return invalidRequest(
    `${PROVIDER_HEADER}: found ${found}; expected the provider that is to keep it, one of ${names}`,
    PROVIDER_HEADER,
  );
}

function providersOf(targets: readonly Target[]): readonly string[] {
  return [...new Set(targets.map(({ upstream }) => upstream.provider))];
}
