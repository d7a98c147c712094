/**
 * Chooses the targets of a call. A route with one target and one credential has nothing to choose: its prepared
 * candidates are returned, and nothing more is read of the request.
 */
import { priceAt } from '../../billing/price-book.ts';
import { DATA_TAG } from '../../config/config.ts';
import { invalidRequest } from '../../errors/call-failure.ts';
import type { Principal } from '../../identity/principal.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import { isUsable } from '../../routing/choose/candidate.ts';
import { choose } from '../../routing/choose/choose.ts';
import { onlyCandidate } from '../../routing/choose/prepared-candidates.ts';
import { describeRequest, type RoutedRequest } from '../../routing/choose/routed-request.ts';
import type { Route } from '../../routing/route.ts';
import type { Identified } from '../call.ts';
import type { CallDeps, Settings } from '../deps.ts';
import { isMoneyBound } from '../money/hold-call.ts';
import { redactKeys } from '../money/settle.ts';
import { estimateInput } from '../money/usage-checks.ts';
import type { ReadCall } from './read-body.ts';

/** The part of a call that the choice reads, beside its body. */
export interface ChoosingCall {
  readonly deps: Pick<CallDeps, 'billing' | 'choice' | 'routing'>;
  readonly settings: Settings;
  readonly principal: Principal;
  readonly protocol: ClientProtocol;
  readonly request: Pick<Request, 'headers'>;
  /** The session that a header names; null: none. */
  readonly session: string | null;
  /** Unix ms. */
  readonly atMs: number;
}

/**
 * Sets the call's candidates and what they were chosen from. Throws CallFailure: `invalid_request`, `model_forbidden` or
 * `unpriced` if no target can carry the request.
 */
export function chooseTargets(call: Identified, read: ReadCall, route: Route): void {
  const tags = readRequiredTags(call.request.headers, call.principal.requiredTags);
  const only = tags.length > 0 ? null : onlyCandidate(route);
  if (only !== null) {
    call.candidates = only;
    return;
  }
  const { choice, routing } = call.deps;
  call.routed = describeForRoute(call, read, route, tags);
  const seed = Math.floor(routing.draw() * 2 ** 53);
  call.candidates = choose(route, call.routed, choice, performance.now(), seed);
  const [first] = call.candidates;
  if (first !== undefined && isUsable(first)) call.credential = first.credential;
}

/** The call as the choice among the route's targets sees it. */
export function describeForRoute(
  call: ChoosingCall,
  { outline, facts }: ReadCall,
  route: Route,
  tags: readonly string[],
): RoutedRequest {
  const { protocol, session, principal, atMs } = call;
  return describeRequest(route, {
    protocol,
    outline,
    facts,
    session,
    workspaceId: principal.workspaceId,
    keyId: principal.keyId,
    tags,
    inputTokens: estimateInput(facts),
    mustBePriced: mustBePriced(call, facts, route),
    atMs,
  });
}

/** Looks up the caps only where a target has no price. */
function mustBePriced({ deps, settings, principal, atMs }: ChoosingCall, facts: RequestFacts, route: Route): boolean {
  if (settings.config.defaults.unpriced !== 'refuse') return false;
  if (route.targets.every(({ prices }) => priceAt(prices, atMs) !== null)) return false;
  const { keyId, workspaceId, account } = principal;
  const endUser = redactKeys(facts.endUser);
  const subjects = { keyId, workspaceId, accountId: account.id, endUser, models: route.names };
  return isMoneyBound(principal, deps.billing.rules.bindingCapsOf(subjects, deps.billing.budgetZoneOf, atMs));
}

/** The header by which a request requires data tags of its target, separated by commas. */
const REQUIRE_HEADER = 'x-tollgate-require';

const TAGS_MAX = 20;

/**
 * The tags that the policy and the request require, each once: a request can only require more. Throws
 * `invalid_request`.
 */
export function readRequiredTags(headers: Headers, policy: readonly string[]): readonly string[] {
  const text = headers.get(REQUIRE_HEADER);
  if (text === null) return policy;
  const given = text.split(',').flatMap((tag) => tag.trim().toLowerCase() || []);
  const wrong = given.find((tag) => !DATA_TAG.test(tag));
  if (wrong === undefined && given.length <= TAGS_MAX) return [...new Set([...policy, ...given])];
  const found = wrong === undefined ? `${given.length} tags` : JSON.stringify(wrong.slice(0, 80));
  throw invalidRequest(
    `${REQUIRE_HEADER}: found ${found}; expected at most ${TAGS_MAX} data tags such as eu, separated by commas, each of a-z, 0-9, ., _ and -`,
    REQUIRE_HEADER,
  );
}
