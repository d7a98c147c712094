/** Owns writing a canonical request as a chat-completions body. What becomes of each feature stands in rendered-features.ts. */
import type { GenerationRequest } from '../../generation/request.ts';
import { writeJson } from '../../wire/json-writer.ts';
import type { RenderedRequest } from '../codec.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import { type Draft, dropMark, limitMarks, type RenderContext, startRendering } from './render-context.ts';
import { renderOutputLimit, renderSampling, renderStop } from './render-limits.ts';
import { renderTools } from './render-tools.ts';
import { renderTurns } from './render-turns.ts';
import { renderOpenaiMembers, renderOutputFormat, renderReasoning } from './render-wishes.ts';

/** Throws CallFailure `invalid_request`, in the caller's words, for what cannot be carried. Only members that say something are written. */
export function renderRequest(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const context = startRendering(request, traits, notes);
  const messages = renderTurns(context);
  limitMarks(context);
  dropMark(request.cache_mark, context);
  const stop = renderStop(context);
  const body = {
    model: traits.model,
    messages,
    ...renderTools(context),
    ...renderOutputLimit(context),
    ...stop.sent,
    ...renderSampling(context),
    ...renderReasoning(context),
    ...renderOutputFormat(context),
    ...renderOpenaiMembers(context),
    ...renderContinuation(context),
    ...renderStream(context),
  };
  return {
    json: writeJson(body),
    tools: { restored: context.restored, custom: new Set() },
    outputTool: null,
    extractsJson: false,
    stopTexts: stop.stopTexts,
  };
}

/** vLLM continues the last message only if told so, and then adds no opening of a new one. Wire reference C.2. */
function renderContinuation({ request, traits }: RenderContext): Draft {
  const isPrefilled = request.turns.at(-1)?.role === 'assistant';
  if (!isPrefilled || traits.chat.prefill !== 'continue_final_message') return {};
  return { continue_final_message: true, add_generation_prompt: false };
}

/** Usage is always asked for: the gateway meters by it. */
function renderStream({ request, traits }: RenderContext): Draft {
  if (!request.stream) return {};
  return { stream: true, stream_options: traits.chat.usageOption ? { include_usage: true } : undefined };
}
