/**
 * Explains to which target of its model a request would go, and why not to the others, with the functions that route
 * calls. Sends nothing, and takes nothing from any limit.
 */
import type { Principal } from '../identity/principal.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { explainRoute, type RouteExplanation } from '../routing/choose/explain.ts';
import type { CallDeps } from './deps.ts';
import { describeForRoute, mustBePriced } from './request/choose-targets.ts';
import { chooseRoute } from './request/identify.ts';
import { readCall } from './request/read-body.ts';

/** The request to explain. */
export interface RouteQuery {
  readonly model: string;
  readonly protocol: ClientProtocol;
  /** Its body, whatever model it names; null: a short text. */
  readonly body: Uint8Array | null;
  /** The key that sends it; null: any key, without required tags, budget or conversation of its own. */
  readonly principal: Principal | null;
  /** Data tags required beyond those of the key. */
  readonly tags: readonly string[];
  /** The session that a header names; null: none. */
  readonly session: string | null;
}

/**
 * The explanation as of now; `untilMs` is unix time. Rejects with CallFailure: `model_unknown`, `model_forbidden`,
 * `model_wrong_protocol`, or `invalid_request` for a body that the protocol does not take.
 */
export async function explainRouteOf(
  deps: Pick<CallDeps, 'settings' | 'billing' | 'choice' | 'routing'>,
  query: RouteQuery,
): Promise<RouteExplanation> {
  const { settings, choice, routing } = deps;
  const { principal, protocol, session } = query;
  const route = chooseRoute(settings, principal ?? ANY_KEY, query.model, protocol.name);
  const body = query.body ?? shortBody(query.model);
  const { limits } = settings.config;
  const read = await readCall(body, protocol, { limits, version: null, countOnly: false });
  const atMs = Date.now();
  const call = { deps, settings, protocol, session, atMs };
  const { workspaceId, keyId } = principal ?? ANY_KEY;
  const routed = describeForRoute({ protocol, session, atMs, workspaceId, keyId }, read, route, {
    tags: [...new Set([...(principal?.requiredTags ?? []), ...query.tags])],
    mustBePriced: principal !== null && mustBePriced({ ...call, principal }, read.facts, route),
  });
  const nowMs = performance.now();
  const explained = explainRoute(route, routed, choice, nowMs, Math.floor(routing.draw() * 2 ** 53));
  const toUnix = (untilMs: number | null) => (untilMs === null ? null : Math.round(untilMs - nowMs + atMs));
  return { ...explained, targets: explained.targets.map((one) => ({ ...one, untilMs: toUnix(one.untilMs) })) };
}

const ANY_KEY = { keyAllows: () => true, workspaceAllows: () => true, workspaceId: '', keyId: '' };

/** A body that both formats take. */
function shortBody(model: string): Uint8Array {
  return Buffer.from(JSON.stringify({ model, max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }] }));
}
