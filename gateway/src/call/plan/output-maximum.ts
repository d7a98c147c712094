/** Computes the maximum number of output tokens of a call. */
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route } from '../../routing/route.ts';

/** All answers combined, by the caller's own limit, else the catalog's; null: unlimited. */
export function mostOutputTokens(facts: RequestFacts, { traits }: Pick<Route, 'traits'>): number | null {
  return ofAll(facts, facts.outputTokensMax ?? traits.outputTokensMax);
}

/** The same for a host that ignores the caller's limit. */
export function mostWithoutLimit(facts: RequestFacts, { traits }: Pick<Route, 'traits'>): number | null {
  return ofAll(facts, traits.outputTokensMax);
}

function ofAll({ answers }: RequestFacts, one: number | null): number | null {
  return one === null ? null : Math.min(Number.MAX_SAFE_INTEGER, one * answers);
}
