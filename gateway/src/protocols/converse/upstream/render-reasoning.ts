/** Renders how much a model should reason, in the fields of its own vendor. Source: provider reference C.3. */
import type { GenerationRequest } from '../../../generation/request.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { type ReasoningContext, renderReasoning as renderThinking } from '../../request/anthropic-thinking.ts';
import { nearestEffort, requestedEffort } from '../../request/reasoning-effort.ts';
import type { PartContext } from './render-part.ts';

export interface RenderedReasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: { readonly [member: string]: WritableJson | undefined };
  /** The model thinks, so the client cannot set the sampling. */
  readonly thinks: boolean;
}

const NOTHING: RenderedReasoning = { fields: {}, thinks: false };

/** All that are documented; the gateway picks the nearest. */
const EFFORTS = ['low', 'medium', 'high'];
const OPENAI_EFFORTS = ['minimal', ...EFFORTS, 'xhigh'];
/** Nova refuses an output limit beside its highest effort, and the caller's limit holds. */
const LIMITED_NOVA_EFFORTS = ['low', 'medium'];

export function renderReasoning(
  request: GenerationRequest,
  around: ReasoningContext,
  { traits, vendor, notes }: PartContext,
): RenderedReasoning {
  if (vendor.reasoning === 'thinking') {
    const { thinking, effort, thinks } = renderThinking(request, traits, around, notes);
    return { fields: { thinking, output_config: effort === undefined ? undefined : { effort } }, thinks };
  }
  const requested = request.reasoning === null ? null : requestedEffort(request.reasoning);
  if (requested === null) return NOTHING;
  const word = request.named.reasoning ?? 'reasoning';
  if (vendor.reasoning === null) {
    if (requested !== 'none') notes.drop(word, `${traits.model} cannot be told how much to reason`);
    return NOTHING;
  }
  if (vendor.reasoning === 'nova') {
    if (requested === 'none') return NOTHING;
    const sent = nearestEffort(requested, request.outputTokensMax === null ? EFFORTS : LIMITED_NOVA_EFFORTS);
    if (sent !== requested) notes.drop(word, `${traits.model} has no effort ${requested} here; ${sent} was sent`);
    return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: sent } }, thinks: sent === 'high' };
  }
  const isOpen = vendor.reasoning === 'reasoning_effort';
  const sent = nearestEffort(requested, isOpen ? EFFORTS : OPENAI_EFFORTS);
  if (sent !== requested) notes.drop(word, `${traits.model} has no effort ${requested}; ${sent} was sent`);
  return { fields: isOpen ? { reasoning_effort: sent } : { reasoning: { effort: sent } }, thinks: false };
}
