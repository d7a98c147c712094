/**
 * Owns which form of thinking a wish becomes at a model, as a pure decision; the words of the request are render-
 * reasoning.ts's. Source: wire reference B.9 and C.5.
 */
import { EFFORT_ORDER, type ReasoningEffort, type ReasoningWish } from '../../generation/request.ts';

/** `type` null: nothing is said of thinking. `effort` null: nothing of effort. */
export interface ThinkingChoice {
  readonly type: 'adaptive' | 'enabled' | 'between_tools' | 'disabled' | null;
  readonly effort: ReasoningEffort | null;
  /** The caller's own number; null with `enabled`: the one that stands for `budgetEffort`. */
  readonly budgetTokens: number | null;
  readonly budgetEffort: ReasoningEffort | null;
  /** Why the wish is not met; null: it is. */
  readonly unmet: string | null;
}

const SILENT: ThinkingChoice = { type: null, effort: null, budgetTokens: null, budgetEffort: null, unmet: null };
const NO_THINKING = 'the model does not think in any way that could be asked for';
/** What an adaptive model does when nobody says how much. */
const DEFAULT_EFFORT: ReasoningEffort = 'high';

/**
 * `types` is what the model takes as `thinking.type`, null where nobody knows; `takesEffort`: it surely takes an
 * effort.
 */
export function chooseThinking(
  wish: ReasoningWish,
  types: readonly string[] | null,
  takesEffort: boolean,
): ThinkingChoice {
  const { mode, effort } = wish;
  const may = (type: string) => types === null || types.includes(type);
  switch (mode) {
    case 'off':
      return chooseNone(effort, types);
    case 'between_tools':
      if (may('between_tools')) return { ...SILENT, type: 'between_tools', effort };
      return chooseByEffort('minimal', types, takesEffort);
    case 'adaptive':
      if (may('adaptive')) return { ...SILENT, type: 'adaptive', effort };
      return chooseByEffort(effort ?? DEFAULT_EFFORT, types, takesEffort);
    case 'budget':
      if (may('enabled')) return { ...SILENT, type: 'enabled', effort, budgetTokens: wish.budgetTokens };
      return chooseByEffort(effort ?? effortOfBudget(wish.budgetTokens ?? 0), types, takesEffort);
    case null:
      return effort === null ? SILENT : chooseByEffort(effort, types, takesEffort);
  }
}

/** Where nobody knows the model, a budget: it is what every host of the format has had from the beginning. */
function chooseByEffort(
  effort: ReasoningEffort,
  types: readonly string[] | null,
  takesEffort: boolean,
): ThinkingChoice {
  if (types?.includes('adaptive')) return { ...SILENT, type: 'adaptive', effort };
  if (types === null || types.includes('enabled')) return { ...SILENT, type: 'enabled', budgetEffort: effort };
  return takesEffort ? { ...SILENT, effort } : { ...SILENT, unmet: NO_THINKING };
}

function chooseNone(effort: ReasoningEffort | null, types: readonly string[] | null): ThinkingChoice {
  if (types === null || types.includes('disabled')) return { ...SILENT, type: 'disabled', effort };
  if (types.includes('between_tools')) return { ...SILENT, type: 'between_tools' };
  if (!types.includes('adaptive')) return SILENT;
  return { ...SILENT, effort: 'low', unmet: 'the model cannot be kept from thinking; it was asked for little' };
}

/** Source: wire reference C.5, last lines of the table. */
function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 2048) return 'low';
  if (tokens <= 8192) return 'medium';
  return tokens <= 24_576 ? 'high' : 'xhigh';
}

/**
 * The same effort, or the nearest below it that the model takes, else its least. Null `accepted`: nobody knows, all but
 * `minimal`.
 */
export function nearestEffort(effort: ReasoningEffort, accepted: readonly string[] | null): ReasoningEffort | null {
  const known = EFFORT_ORDER.filter((one) => one !== 'minimal' && (accepted === null || accepted.includes(one)));
  const rank = EFFORT_ORDER.indexOf(effort);
  return known.findLast((one) => EFFORT_ORDER.indexOf(one) <= rank) ?? known[0] ?? null;
}
