/**
 * Authenticates the caller, admits the call to the process and authorizes its model: key, scope, address, capacity,
 * route. Contract, 4 and 5.
 */
import { CallPlace } from '../../admission/capacity.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { ReasonDraft } from '../../errors/reason.ts';
import type { KeyDirectory } from '../../identity/key-directory.ts';
import { hasKeyForm } from '../../identity/key-format.ts';
import {
  authenticate,
  authorize,
  type ModelRights,
  mayComeFrom,
  mayUseModel,
  noteUse,
  type Principal,
  workspaceAllowsModel,
} from '../../identity/principal.ts';
import { DEFAULT_MODEL } from '../../protocols/client-protocol.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route } from '../../routing/route.ts';
import { type Arrived, type Identified, type Routed, setFacts, setPriced, setPrincipal, setRoute } from '../call.ts';
import type { Settings } from '../deps.ts';
import { pricedMembersAt } from '../money/switch-target.ts';
import { adaptTarget } from '../plan/refused-members.ts';
import { chooseTargets } from './choose-targets.ts';
import type { ReadCall } from './read-body.ts';

/** Messages for refused keys: enough for the owner, nothing useful for a stranger. */
const REFUSALS = {
  malformed:
    'the API key is not valid: it is incomplete or mistyped, or it is not of this gateway, whose keys begin with "tg_". Make one at /app/keys or with "tollgate keys create"',
  unknown: 'the API key is not valid. Make one at /app/keys or with "tollgate keys create"',
  ownerless:
    'the API key no longer works: its creator has left the account or may not create keys there. Ask an admin of the account for a key',
  expired: 'the API key has expired. Set a later expiry at /app/keys, or make a new key',
  replaced: 'the API key was rotated, and this secret has ended. Use the new one',
  disabled: 'the API key is disabled. Ask an admin of its account to enable it',
  revoked: 'the API key was revoked. Make a new one',
} as const;

/** Authenticates the caller. Throws `unauthorized`, `scope_forbidden` or `address_forbidden`. */
export function identifyCaller(call: Arrived): asserts call is Identified {
  const principal = principalOf(call);
  setPrincipal(call, principal);
  noteUse(principal.use, call.request.headers, call.atMs);
  allowCaller(principal, principal.ranges === null ? null : call.origin.address());
}

function principalOf({ request, deps, protocol }: Arrived): Principal {
  const keyText = readCredential(request.headers, protocol.prefersApiKeyHeader, protocol.keyHeader);
  return identify(deps.directory, keyText);
}

/**
 * Admits a call before its body is read. Throws `draining`, `store_unavailable` or `over_capacity`, each a 503, or
 * `invalid_request` for an unknown version.
 */
export function admit(call: Identified): void {
  const { deps, request, protocol } = call;
  if (deps.draining) {
    throw new CallFailure('draining', 'the gateway is shutting down; try again', {
      retryAfterSeconds: 2,
      closeConnection: true,
    });
  }
  if (!deps.recorder.writable()) {
    throw new CallFailure('store_unavailable', 'calls cannot be recorded at the moment; try again shortly', {
      retryAfterSeconds: 2,
    });
  }
  if (deps.capacity.openCalls.isFull || deps.capacity.overload.refuses(Math.random())) throw tooManyCalls();
  call.place = new CallPlace(deps.capacity);
  call.version = protocol.readVersion(request.headers);
}

/**
 * Counts a call as open once its body has arrived. Its sender chooses how long that takes, so the key counts as it is now.
 * Throws `over_capacity`, and as `identifyCaller` does.
 */
export function openPlace(call: Identified): void {
  // Most bodies come in the millisecond of the head: then it is the same.
  const principal = Date.now() === call.atMs ? call.principal : principalOf(call);
  if (principal !== call.principal) {
    setPrincipal(call, principal);
    allowCaller(principal, principal.ranges === null ? null : call.origin.address());
  }
  if (call.place?.open() === false) throw tooManyCalls();
}

function tooManyCalls(): CallFailure {
  // A client that keeps the connection until its next retry would occupy a file descriptor.
  return new CallFailure('over_capacity', 'the gateway has too many calls open; try again shortly', {
    retryAfterSeconds: 1,
    closeConnection: true,
  });
}

/**
 * Chooses the route and the target of a call that was read. `pinned`: the route to what it names; null: any. Throws like
 * `chooseRoute`, `chooseTargets` and `pricedMembersAt`.
 */
export function routeCall(call: Identified, read: ReadCall, pinned: Route | null): asserts call is Routed {
  const { settings, principal, protocol, deps } = call;
  const { outline } = read;
  const facts = read.facts.model === DEFAULT_MODEL ? withDefaultModel(call, read.facts) : read.facts;
  setFacts(call, outline, facts);
  const route = pinned ?? chooseRoute(settings, principal, facts.model, protocol.name);
  chooseTargets(call, facts === read.facts ? read : { ...read, facts }, route);
  const first = call.candidates[0]?.target ?? route.targets[0];
  const target = adaptTarget(first, principal.workspaceId, call.atMs, deps.refusedMembers);
  setRoute(call, route, target);
  if (facts.priced !== undefined) setPriced(call, pricedMembersAt(call, target));
}

/** The facts with the name of the caller's first model of the format. Throws `model_unknown` without one. */
function withDefaultModel({ settings, principal, protocol }: Identified, facts: RequestFacts): RequestFacts {
  for (const [model, route] of settings.routes) {
    if (route.protocols.includes(protocol.name) && mayUseModel(principal, route.names)) return { ...facts, model };
  }
  const message = `no model of ${protocol.name} is served here that this key may use; name one`;
  throw new CallFailure('model_unknown', message, { param: 'model' });
}

/** The principal of the presented key. Throws `unauthorized`. */
export function identify(directory: KeyDirectory, keyText: string): Principal {
  const found = authenticate(directory, keyText, Date.now());
  if (typeof found === 'string') throw new CallFailure('unauthorized', REFUSALS[found], { closeConnection: true });
  return found;
}

/**
 * Checks everything that needs no body: the key's scope and the caller's address. Throws `scope_forbidden` or
 * `address_forbidden`.
 */
export function allowCaller(principal: Principal, address: string | null): void {
  const { keyId } = principal;
  const answer = authorize(principal, { scope: 'inference', address, modelNames: null });
  if (answer === 'scope') {
    throw new CallFailure('scope_forbidden', 'this API key may not call models: it lacks the scope "inference"', {
      closeConnection: true,
      reason: restrictedKey(keyId, 'scopes'),
    });
  }
  if (answer !== 'allowed') throw addressForbidden(keyId);
}

/** Checks only the caller's address, for endpoints open to keys of any scope. Throws `address_forbidden`. */
export function allowAddress(principal: Principal, address: string | null): void {
  if (!mayComeFrom(principal, address)) throw addressForbidden(principal.keyId);
}

function addressForbidden(keyId: string): CallFailure {
  return new CallFailure('address_forbidden', 'this API key may not be used from your address', {
    closeConnection: true,
    reason: restrictedKey(keyId, 'addresses'),
  });
}

function restrictedKey(id: string, cap: 'addresses' | 'scopes'): ReasonDraft {
  return { kind: 'key_restricted', subject: { type: 'key', id }, rule: { id: `key:${id}`, cap } };
}

/**
 * The route of a model that the key may use over the protocol. Throws `model_unknown`, `model_forbidden` or
 * `model_wrong_protocol`.
 */
export function chooseRoute(
  { routes }: Pick<Settings, 'routes'>,
  rights: ModelRights & Partial<PolicyOwners>,
  model: string,
  protocol: ClientProtocolName,
): Route {
  const route = routes.get(model);
  if (route === undefined) {
    throw new CallFailure(
      'model_unknown',
      `the model ${JSON.stringify(model)} is not served here. GET /v1/models lists what this key may use`,
      { param: 'model' },
    );
  }
  if (!mayUseModel(rights, route.names)) {
    throw new CallFailure(
      'model_forbidden',
      `this API key may not use the model ${JSON.stringify(model)}. GET /v1/models lists what it may use`,
      { param: 'model', reason: reasonOfModel(rights, route.names) },
    );
  }
  if (!route.protocols.includes(protocol)) {
    const others = route.protocols.map((one) => `POST ${pathOf(one)}`).join(' or ');
    throw new CallFailure(
      'model_wrong_protocol',
      `the model ${JSON.stringify(model)} is not served on this endpoint; use ${others}`,
      {
        param: 'model',
      },
    );
  }
  return route;
}

function pathOf(protocol: ClientProtocolName): string {
  const { shownPath, endpoints } = CLIENT_PROTOCOLS[protocol];
  return shownPath ?? `/v1${endpoints[0]?.path}`;
}

/** The owners of the model policies; absent if the caller is not a key. */
type PolicyOwners = Pick<Principal, 'keyId' | 'workspaceId' | 'keyModels' | 'workspaceModels'>;

const ALLOWED_MAX = 20;

/** Names the workspace's policy first, because the key's cannot widen it. */
function reasonOfModel(rights: ModelRights & Partial<PolicyOwners>, names: readonly string[]): ReasonDraft {
  const ofKey = workspaceAllowsModel(rights, names);
  const [type, id, models] = ofKey
    ? (['key', rights.keyId, rights.keyModels] as const)
    : (['workspace', rights.workspaceId, rights.workspaceModels] as const);
  if (id === undefined) return { kind: 'model_not_allowed' };
  const allowed = (models ?? []).slice(0, ALLOWED_MAX);
  return { kind: 'model_not_allowed', subject: { type, id }, rule: { id: `${type}:${id}`, cap: 'models' }, allowed };
}

const BEARER = /^Bearer +\S+ *$/i;
const SCHEME_LENGTH = 'Bearer '.length;

/**
 * The key as the caller sent it, in `authorization` or `keyHeader`. If a request has both headers, `authorization` decides unless `prefersApiKeyHeader`.
 * Throws `unauthorized` without one; the message says how to send one.
 */
export function readCredential(headers: Headers, prefersApiKeyHeader: boolean, keyHeader = 'x-api-key'): string {
  const authorization = headers.get('authorization');
  const apiKey = headers.get(keyHeader)?.trim() || null;
  if (authorization === null && apiKey !== null) return apiKey;
  const bearer =
    authorization !== null && BEARER.test(authorization) ? authorization.slice(SCHEME_LENGTH).trim() : null;
  if (prefersApiKeyHeader && apiKey !== null && (bearer === null || hasKeyForm(apiKey))) return apiKey;
  if (bearer !== null) return bearer;
  throw new CallFailure(
    'unauthorized',
    authorization === null
      ? `no API key: send it as "authorization: Bearer KEY" or "${keyHeader}: KEY". Keys are made at /app/keys or with "tollgate keys create"`
      : 'the authorization header is not of the form "Bearer KEY"',
    { closeConnection: true },
  );
}

const NAME_CHARS_MAX = 255;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** The idempotency key of the request; null: none. `isReplayable`: its answer can be stored. Throws `invalid_request`. */
export function readIdempotencyName(headers: Headers, isReplayable = true): string | null {
  const name = headers.get('idempotency-key');
  if (name === null) return null;
  if (!isReplayable) {
    throw invalidRequest(
      'idempotency-key: the answers of this endpoint are not stored, so that none can be given again; leave the header out',
      'idempotency-key',
    );
  }
  if (name.length > 0 && name.length <= NAME_CHARS_MAX && PRINTABLE.test(name)) return name;
  const found = PRINTABLE.test(name) ? `${name.length} characters` : 'a character that cannot be printed';
  throw invalidRequest(
    `idempotency-key has ${found}; expected 1 to ${NAME_CHARS_MAX} printable ASCII characters, such as a UUID`,
    'idempotency-key',
  );
}
