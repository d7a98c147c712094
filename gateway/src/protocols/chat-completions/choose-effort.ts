/** Owns the choice of a `reasoning_effort`: which word a wish means, and which of the words a model takes comes nearest to it. */
import type { ReasoningWish } from '../../generation/request.ts';

const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type EffortWord = (typeof ORDER)[number];

/** Most tokens of a budget that an effort stands for; above the last it is `xhigh`. Wire reference C.5. */
const BUDGETS: ReadonlyArray<readonly [number, EffortWord]> = [
  [2048, 'low'],
  [8192, 'medium'],
  [24576, 'high'],
];

/** The word for a wish; null: it leaves the effort to the model. */
export function wishedEffort({ mode, budgetTokens, effort }: ReasoningWish): EffortWord | null {
  if (mode === 'off') return 'none';
  if (mode === 'between_tools') return 'minimal';
  if (effort !== null) return effort;
  if (budgetTokens === null) return null;
  return BUDGETS.find(([most]) => budgetTokens <= most)?.[1] ?? 'xhigh';
}

/** The accepted word nearest to the wished one, of two the lower; null: none is accepted. Words of other orders are never chosen. */
export function nearestEffort(wished: EffortWord, accepted: readonly string[]): EffortWord | null {
  const aim = ORDER.indexOf(wished);
  let nearest: EffortWord | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [rank, word] of ORDER.entries()) {
    const distance = Math.abs(rank - aim);
    // An effort above `minimal` never becomes no reasoning at all.
    if (word === 'none' && aim > ORDER.indexOf('minimal')) continue;
    if (accepted.includes(word) && distance < least) {
      nearest = word;
      least = distance;
    }
  }
  return nearest;
}
