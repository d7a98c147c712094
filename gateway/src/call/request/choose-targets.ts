/**
 * Chooses the targets of a call. A route with one target and one credential has nothing to choose: its prepared
 * candidates are returned, and nothing more is read of the request.
 */
import { priceAt } from '../../billing/price-book.ts';
import type { Principal } from '../../identity/principal.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import { choose, onlyCandidate } from '../../routing/choose/choose.ts';
import {
  describeRequest,
  type RequestSource,
  type RoutedRequest,
  readRequiredTags,
} from '../../routing/choose/routed-request.ts';
import type { Route } from '../../routing/route.ts';
import type { Identified } from '../call.ts';
import type { CallDeps, Settings } from '../deps.ts';
import { isMoneyBound } from '../money/hold-call.ts';
import { redactKeys } from '../money/settle.ts';
import { estimateInput } from '../money/usage-checks.ts';
import type { ReadCall } from './read-body.ts';

/** The part of a call that says who pays. */
interface PayingCall {
  readonly deps: Pick<CallDeps, 'billing'>;
  readonly settings: Settings;
  readonly principal: Principal;
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
  const { protocol, session, atMs, principal } = call;
  const { workspaceId, keyId } = principal;
  call.routed = describeForRoute({ protocol, session, atMs, workspaceId, keyId }, read, route, {
    tags,
    mustBePriced: mustBePriced(call, read.facts, route),
  });
  const seed = Math.floor(routing.draw() * 2 ** 53);
  call.candidates = choose(route, call.routed, choice, performance.now(), seed);
}

/** The request as the choice among the route's targets sees it. */
export function describeForRoute(
  call: Pick<RequestSource, 'protocol' | 'session' | 'atMs' | 'workspaceId' | 'keyId'>,
  { outline, facts }: ReadCall,
  route: Route,
  required: Pick<RequestSource, 'tags' | 'mustBePriced'>,
): RoutedRequest {
  return describeRequest(route, { ...call, ...required, outline, facts, inputTokens: estimateInput(facts) });
}

/** Whether a balance or a budget pays for the call. Looks up the caps only where a target has no price. */
export function mustBePriced(
  { deps, settings, principal, atMs }: PayingCall,
  facts: RequestFacts,
  route: Route,
): boolean {
  if (settings.config.defaults.unpriced !== 'refuse') return false;
  if (route.targets.every(({ prices }) => priceAt(prices, atMs) !== null)) return false;
  const { keyId, workspaceId, account } = principal;
  const endUser = redactKeys(facts.endUser);
  const subjects = { keyId, workspaceId, accountId: account.id, endUser, models: route.names };
  return isMoneyBound(principal, deps.billing.rules.bindingCapsOf(subjects, deps.billing.budgetZoneOf, atMs));
}
