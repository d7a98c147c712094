/** Renders `thinking` and the effort for models of Anthropic. Source: wire reference B.9 and C.5. */
import {
  EFFORT_ORDER,
  type GenerationRequest,
  type ReasoningEffort,
  type ReasoningRequest,
} from '../../generation/request.ts';
import type { WritableJson } from '../../wire/json-writer.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import type { TranslationNotes } from './translation-notes.ts';

export interface RenderedReasoning {
  readonly thinking: WritableJson | undefined;
  readonly effort: string | undefined;
  /** The model thinks, so the client cannot set the sampling. */
  readonly thinks: boolean;
}

/** Properties of the request that may conflict with thinking. */
export interface ReasoningContext {
  readonly outputTokensMax: number;
  /** The last calls of the history lack the thinking before them. */
  readonly lacksThinking: boolean;
  readonly forcedTool: boolean;
}

const NOTHING: RenderedReasoning = { thinking: undefined, effort: undefined, thinks: false };
const BUDGET_TOKENS_MIN = 1024;
/** Thinking tokens per effort; `max` is a share of the output limit, which caps every budget. */
const BUDGETS: Readonly<Record<ReasoningEffort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: Number.POSITIVE_INFINITY,
};
const BUDGET_PERCENT_MAX = 80;

export function renderReasoning(
  request: GenerationRequest,
  traits: UpstreamTraits,
  around: ReasoningContext,
  notes: TranslationNotes,
): RenderedReasoning {
  const requested = request.reasoning;
  if (requested === null) return NOTHING;
  const member = request.named.reasoning ?? 'reasoning';
  if (traits.takes.reasoning === false) {
    if (requested.mode !== 'off') notes.drop(member, `${traits.model} does not think`);
    return NOTHING;
  }
  const takesEffort = (traits.messages.effort?.length ?? 0) > 0;
  const choice = chooseThinking(requested, traits.messages.thinking, takesEffort);
  if (choice.unmet !== null) notes.drop(member, choice.unmet);
  const obstacle = obstacleOf(choice.type, around);
  if (obstacle !== null) {
    notes.drop(member, obstacle);
    const type = traits.messages.thinking?.includes('disabled') ? 'disabled' : null;
    const effort = renderEffort({ ...choice, type }, traits, member, notes);
    return { thinking: type === null ? undefined : { type }, effort, thinks: false };
  }
  const effort = renderEffort(choice, traits, member, notes);
  if (choice.type === null) return { thinking: undefined, effort, thinks: false };
  const budget_tokens = choice.type === 'enabled' ? budgetOf(choice, around.outputTokensMax, member, notes) : undefined;
  const thinks = choice.type === 'enabled' || choice.type === 'adaptive';
  const display = thinks ? (requested.display ?? undefined) : undefined;
  return { thinking: { type: choice.type, budget_tokens, display }, effort, thinks };
}

/** Anthropic refuses a forced tool with any thinking; the other obstacles apply only to a budget. */
function obstacleOf(
  type: ThinkingChoice['type'],
  { outputTokensMax, lacksThinking, forcedTool }: ReasoningContext,
): string | null {
  if (type !== 'enabled' && type !== 'adaptive') return null;
  if (forcedTool) return 'a model that must call a tool does not think before it';
  if (type === 'adaptive') return null;
  if (outputTokensMax <= BUDGET_TOKENS_MIN)
    return `an answer of at most ${outputTokensMax} tokens leaves no room to think`;
  return lacksThinking ? 'the last calls in the history came without the thinking before them' : null;
}

function budgetOf(choice: ThinkingChoice, outputTokensMax: number, member: string, notes: TranslationNotes): number {
  if (choice.budgetTokens === null) {
    const share = Math.floor((outputTokensMax * BUDGET_PERCENT_MAX) / 100);
    return Math.max(BUDGET_TOKENS_MIN, Math.min(BUDGETS[choice.budgetEffort ?? 'high'], share));
  }
  const sent = Math.max(BUDGET_TOKENS_MIN, Math.min(choice.budgetTokens, outputTokensMax - 1));
  if (sent !== choice.budgetTokens) {
    const bounds = `from ${BUDGET_TOKENS_MIN} tokens to below the ${outputTokensMax} of the answer`;
    notes.drop(member, `a budget must be ${bounds}; ${sent} was sent`);
  }
  return sent;
}

/** The effort that the model supports; reports it if it differs from the requested one. */
function renderEffort(
  { type, effort }: ThinkingChoice,
  { messages, model }: UpstreamTraits,
  member: string,
  notes: TranslationNotes,
): string | undefined {
  if (effort === null) return undefined;
  const ceiling = EFFORT_ORDER.find((one) => type === 'disabled' && one === messages.effortMaxWhenDisabled) ?? 'max';
  const wanted = EFFORT_ORDER.indexOf(effort) > EFFORT_ORDER.indexOf(ceiling) ? ceiling : effort;
  const sent = nearestEffort(wanted, messages.effort);
  if (sent !== effort && effort !== 'minimal') {
    notes.drop(
      member,
      sent === null ? `${model} takes no effort` : `${model} does not take "${effort}" here; "${sent}" was sent`,
    );
  }
  return sent ?? undefined;
}

/** `type` null: thinking is not sent. `effort` null: effort is not sent. */
interface ThinkingChoice {
  readonly type: 'adaptive' | 'enabled' | 'between_tools' | 'disabled' | null;
  readonly effort: ReasoningEffort | null;
  /** The client's own number; null with `enabled`: the budget for `budgetEffort`. */
  readonly budgetTokens: number | null;
  readonly budgetEffort: ReasoningEffort | null;
  /** Why the request cannot be met; null if it is. */
  readonly unmet: string | null;
}

const SILENT: ThinkingChoice = { type: null, effort: null, budgetTokens: null, budgetEffort: null, unmet: null };
const NO_THINKING = 'the model does not think in any way that could be asked for';
/** An adaptive model's effort if none is requested. */
const DEFAULT_EFFORT: ReasoningEffort = 'high';

/**
 * `types` is what the model accepts as `thinking.type`, null if unknown; `takesEffort`: the model is known to accept an
 * effort.
 */
function chooseThinking(
  requested: ReasoningRequest,
  types: readonly string[] | null,
  takesEffort: boolean,
): ThinkingChoice {
  const { mode, effort } = requested;
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
      if (may('enabled')) return { ...SILENT, type: 'enabled', effort, budgetTokens: requested.budgetTokens };
      return chooseByEffort(effort ?? effortOfBudget(requested.budgetTokens ?? 0), types, takesEffort);
    case null:
      return effort === null ? SILENT : chooseByEffort(effort, types, takesEffort);
  }
}

/** For an unknown model, a budget: every provider of the format has supported it from the beginning. */
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
 * The same effort, or the nearest lower one that the model accepts, else its lowest. Null `accepted`: unknown, so all
 * but `minimal`.
 */
function nearestEffort(effort: ReasoningEffort, accepted: readonly string[] | null): ReasoningEffort | null {
  const known = EFFORT_ORDER.filter((one) => one !== 'minimal' && (accepted === null || accepted.includes(one)));
  const rank = EFFORT_ORDER.indexOf(effort);
  return known.findLast((one) => EFFORT_ORDER.indexOf(one) <= rank) ?? known[0] ?? null;
}
