/** Reads how much a model should reason as one word, and finds the word that a provider has for it. */
import type { ReasoningRequest } from '../../generation/request.ts';

const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
type EffortWord = (typeof ORDER)[number];

/** The largest token budget for each effort; above the last it is `xhigh`. Wire reference C.5. */
const BUDGETS: ReadonlyArray<readonly [number, EffortWord]> = [
  [2048, 'low'],
  [8192, 'medium'],
  [24576, 'high'],
];

/** The requested effort; null: left to the model. */
export function requestedEffort({ mode, budgetTokens, effort }: ReasoningRequest): EffortWord | null {
  if (mode === 'off') return 'none';
  if (mode === 'between_tools') return 'minimal';
  if (effort !== null) return effort;
  if (budgetTokens === null) return null;
  return BUDGETS.find(([most]) => budgetTokens <= most)?.[1] ?? 'xhigh';
}

/** The accepted effort nearest to the requested one, the lower on a tie; null: none. Never picks unknown values. */
export function nearestEffort(requested: EffortWord, accepted: readonly string[]): EffortWord | null {
  const aim = ORDER.indexOf(requested);
  let nearest: EffortWord | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [rank, word] of ORDER.entries()) {
    const distance = Math.abs(rank - aim);
    // An effort above `minimal` never turns reasoning off.
    if (word === 'none' && aim > ORDER.indexOf('minimal')) continue;
    if (accepted.includes(word) && distance < least) {
      nearest = word;
      least = distance;
    }
  }
  return nearest;
}
