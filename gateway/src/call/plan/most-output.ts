/** Bounds how many tokens the answers to a call may have. */
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route } from '../../routing/route.ts';

/** All answers together, by the caller's own limit, else by the catalogue's; null: nobody bounds them. */
export function mostOutputTokens(facts: RequestFacts, { traits }: Pick<Route, 'traits'>): number | null {
  return ofAll(facts, facts.outputTokensMax ?? traits.outputTokensMax);
}

/** The same of a host that ignores what the caller said. */
export function mostWithoutLimit(facts: RequestFacts, { traits }: Pick<Route, 'traits'>): number | null {
  return ofAll(facts, traits.outputTokensMax);
}

function ofAll({ answers }: RequestFacts, one: number | null): number | null {
  return one === null ? null : Math.min(Number.MAX_SAFE_INTEGER, one * answers);
}
