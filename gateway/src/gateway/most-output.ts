/** Owns how many tokens the answers to a call may have at most. */
import type { RequestFacts } from '../protocols/request-facts.ts';
import type { Route } from '../routing/route.ts';

/** More answers at once are no upstream's to give (wire reference A.2). */
const ANSWERS_MAX = 128;

/** All answers together, by the caller's own maximum, else by the catalogue's; null: nobody bounds them. */
export function mostOutputTokens(facts: RequestFacts, { traits }: Pick<Route, 'traits'>): number | null {
  const one = facts.outputTokensMax ?? traits.outputTokensMax;
  const answers = Math.min(ANSWERS_MAX, Math.max(1, Math.floor(facts.answers ?? 1)));
  return one === null ? null : Math.min(Number.MAX_SAFE_INTEGER, one * answers);
}
