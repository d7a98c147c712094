/** Renders `generationConfig.thinkingConfig`: a budget or a level, and whether thoughts are shown. */
import {
  EFFORT_ORDER,
  type GenerationRequest,
  type ReasoningEffort,
  type ReasoningRequest,
} from '../../../generation/request.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { BUDGETS, modelOf, type ThinkingScale } from '../shared/model-names.ts';

/** The model chooses how much it thinks. */
const DYNAMIC = -1;

/** Undefined: thinking was not mentioned, or the model has none. */
export function renderThinking(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): WritableJson | undefined {
  const requested = request.reasoning;
  if (requested === null) return undefined;
  const member = request.named.reasoning ?? 'reasoning';
  const scale = traits.takes.reasoning === false ? null : modelOf(traits.model).thinking;
  if (scale === null) {
    if (requested.mode !== 'off') notes.drop(member, `${traits.model} does not think`);
    return undefined;
  }
  const includeThoughts = requested.mode !== 'off' && requested.display !== 'omitted' ? true : undefined;
  const amount = scale.kind === 'budget' ? budgetOf(requested, scale) : levelOf(requested, scale);
  if (amount.unmet !== null) notes.drop(member, `${traits.model} ${amount.unmet}`);
  return { ...amount.config, includeThoughts };
}

interface Amount {
  readonly config: { readonly thinkingBudget?: number; readonly thinkingLevel?: string };
  /** What the model cannot do of what was asked, and what was sent; null: it does it. */
  readonly unmet: string | null;
}

type Scale<Kind extends ThinkingScale['kind']> = Extract<ThinkingScale, { kind: Kind }>;

function budgetOf({ mode, effort, budgetTokens }: ReasoningRequest, { least, most }: Scale<'budget'>): Amount {
  if (mode === 'off') {
    const unmet = least === 0 ? null : `cannot be kept from thinking; a budget of ${least} tokens was sent`;
    return { config: { thinkingBudget: least }, unmet };
  }
  if (mode === 'budget' && budgetTokens !== null) {
    const sent = Math.min(Math.max(budgetTokens, least), most);
    const unmet = sent === budgetTokens ? null : `thinks from ${least} to ${most} tokens; ${sent} was sent`;
    return { config: { thinkingBudget: sent }, unmet };
  }
  const wanted = mode === 'between_tools' ? 'minimal' : effort;
  if (wanted === null) return { config: { thinkingBudget: DYNAMIC }, unmet: null };
  return { config: { thinkingBudget: Math.min(BUDGETS[wanted], most) }, unmet: null };
}

function levelOf(requested: ReasoningRequest, { levels }: Scale<'level'>): Amount {
  const [lowest] = levels;
  if (lowest === undefined) return { config: {}, unmet: null };
  if (requested.mode === 'off') {
    return { config: { thinkingLevel: lowest }, unmet: `cannot be kept from thinking; "${lowest}" was sent` };
  }
  const wanted = effortOf(requested);
  if (wanted === null) return { config: {}, unmet: null };
  const rank = EFFORT_ORDER.indexOf(wanted);
  const sent = levels.findLast((level) => EFFORT_ORDER.indexOf(level) <= rank) ?? lowest;
  const isMet = sent === wanted || wanted === 'minimal';
  return { config: { thinkingLevel: sent }, unmet: isMet ? null : `does not take "${wanted}"; "${sent}" was sent` };
}

/** A budget becomes the lowest effort that covers it. */
function effortOf({ mode, effort, budgetTokens }: ReasoningRequest): ReasoningEffort | null {
  if (effort !== null) return effort;
  if (mode === 'between_tools') return 'minimal';
  if (mode !== 'budget' || budgetTokens === null) return null;
  return EFFORT_ORDER.find((one) => BUDGETS[one] >= budgetTokens && one !== 'xhigh' && one !== 'max') ?? 'high';
}
