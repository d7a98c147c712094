/**
 * Explains where a request to a model would go and why not elsewhere, with the functions that read a request and choose
 * for a call. Sends nothing and takes nothing from any limit.
 */
import { CallFailure } from '../errors/call-failure.ts';
import { newKeyUse, openEntry, type Principal } from '../identity/principal.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import { explainRoute as explainChoice, type RouteExplanation } from '../routing/choose/explain.ts';
import type { Route } from '../routing/route.ts';
import type { CallDeps } from './deps.ts';
import { describeForRoute, readRequiredTags } from './request/choose-targets.ts';
import { chooseRoute } from './request/identify.ts';
import { readCall } from './request/read-body.ts';

/** The request to explain. */
export interface RouteQuery {
  /** A public name; it takes the place of the request's own model. */
  readonly model: string;
  /** Null: the first that the model is served over. */
  readonly protocol: ClientProtocolName | null;
  /** The id of the key that would send it; null: a key of the account without restrictions. */
  readonly keyId: string | null;
  readonly account: string;
  /** The JSON body; null: a short one of text only. */
  readonly body: { readonly [member: string]: unknown } | null;
  /** The session that the client would name; null: none. */
  readonly session: string | null;
}

export interface ExplainedRoute {
  readonly protocol: ClientProtocolName;
  /** Null: the request is refused before a target is chosen. */
  readonly route: Route | null;
  readonly explanation: RouteExplanation | null;
  /** The message that the client would get; null: it would not be refused. */
  readonly refusal: string | null;
}

type ExplainDeps = Pick<CallDeps, 'directory' | 'settings' | 'billing' | 'choice' | 'routing'>;

/** Members without which a format refuses a request. */
const SHORT_REQUEST = {
  messages: [{ role: 'user', content: 'Hello' }],
  input: 'Hello',
  contents: [{ parts: [{ text: 'Hello' }] }],
  prompt: 'Hello',
  query: 'Hello',
  documents: ['Hello'],
  max_tokens: 256,
};
/** For formats that require a version; any request may name it. */
const HEADERS = { 'anthropic-version': '2023-06-01' };

/** Where the request would go now. Rejects only where the gateway itself fails. */
export async function explainRequest(deps: ExplainDeps, query: RouteQuery, nowMs: number): Promise<ExplainedRoute> {
  const { settings } = deps;
  const found = settings.routes.get(query.model);
  const protocolName = query.protocol ?? found?.protocols[0] ?? 'chat';
  let route: Route | null = null;
  try {
    const principal = principalOf(deps, query, nowMs);
    route = chooseRoute(settings, principal, query.model, protocolName);
    const protocol = CLIENT_PROTOCOLS[protocolName];
    const headers = new Headers(HEADERS);
    const bytes = Buffer.from(JSON.stringify({ ...(query.body ?? SHORT_REQUEST), model: query.model }));
    const version = protocol.readVersion(headers);
    const path = { model: query.model, stream: false };
    const read = await readCall(bytes, protocol, { limits: settings.config.limits, version, path, countOnly: false });
    const asked = { deps, settings, principal, protocol, request: { headers }, session: query.session, atMs: nowMs };
    const routed = describeForRoute(asked, read, route, readRequiredTags(headers, principal.requiredTags));
    const seed = Math.floor(deps.routing.draw() * 2 ** 53);
    const explanation = explainChoice(route, routed, deps.choice, performance.now(), seed);
    return { protocol: protocolName, route, explanation, refusal: explanation.refusal };
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    return { protocol: protocolName, route, explanation: null, refusal: fault.message };
  }
}

/** Throws CallFailure for a key that may not call models. */
function principalOf({ directory }: ExplainDeps, { keyId, account }: RouteQuery, nowMs: number): Principal {
  if (keyId === null) return unrestricted(directory, account);
  const key = directory.keys.get(keyId);
  const entry = key === undefined ? undefined : directory.byHash.get(key.hash);
  if (entry === undefined) throw new CallFailure('unauthorized', 'there is no such key');
  const principal = openEntry(entry, nowMs);
  if (typeof principal === 'string') throw new CallFailure('unauthorized', `the key is ${principal}`);
  if (!principal.scopes.includes('inference')) {
    throw new CallFailure('scope_forbidden', 'the key may not call models: it lacks the scope "inference"');
  }
  return principal;
}

/** A key of an account without restrictions. */
function unrestricted({ accounts }: ExplainDeps['directory'], accountId: string): Principal {
  const account = accounts.get(accountId);
  if (account === undefined) throw new CallFailure('unauthorized', 'there is no such account');
  return {
    keyId: '',
    keyName: '',
    accountId: account.id,
    account,
    workspaceId: '',
    scopes: ['inference'],
    strict: false,
    holds: null,
    ranges: null,
    use: newKeyUse(),
    keyModels: null,
    workspaceModels: null,
    keyAllows: () => true,
    workspaceAllows: () => true,
    requiredTags: [],
    bodies: null,
    cache: null,
  };
}
