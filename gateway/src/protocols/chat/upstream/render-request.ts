/**
 * Renders a canonical request as a chat-completions body, and lists how each feature is handled; tools, turns and the
 * other options have their own files.
 */
import type { Feature, GenerationRequest } from '../../../generation/request.ts';
import { writeJson } from '../../../wire/json-writer.ts';
import { callerWord, type Draft, modelWord } from '../../openai/render-context.ts';
import { askForJson } from '../../openai/render-options.ts';
import { splitStop } from '../../request/answer-limits.ts';
import { type FeatureFates, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { dropMark, limitMarks, type RenderContext, startRendering } from './render-context.ts';
import { renderOpenaiMembers, renderOutputFormat, renderReasoning } from './render-generation-options.ts';
import { renderTools } from './render-tools.ts';
import { renderTurns } from './render-turns.ts';

/** Throws CallFailure `invalid_request`, with the caller's member names, for what cannot be carried. */
export function renderRequest(
  written: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const request = askForJson(written);
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
    tools: { restored: context.restored, custom: context.custom },
    outputTool: null,
    extractsJson: false,
    thinkTags: traits.chat.thinkTags,
    stopTexts: stop.stopTexts,
  };
}

/** vLLM continues the last message only with these members, and then opens no new one. Wire reference C.2. */
function renderContinuation({ request, traits }: RenderContext): Draft {
  const isPrefilled = request.turns.at(-1)?.role === 'assistant';
  if (!isPrefilled || traits.chat.prefill !== 'continue_final_message') return {};
  return { continue_final_message: true, add_generation_prompt: false };
}

/** Always requests usage: the gateway meters by it. */
function renderStream({ request, traits }: RenderContext): Draft {
  if (!request.stream) return {};
  return { stream: true, stream_options: traits.chat.usageOption ? { include_usage: true } : undefined };
}

/** The output token limit, in the member that the provider accepts. */
function renderOutputLimit(context: RenderContext): Draft {
  const requested = context.request.outputTokensMax;
  if (requested === null) return {};
  const word = callerWord(context, 'output_limit');
  if (requested === 0) throw refuseMember(word, `found 0; ${modelWord(context)} answers with at least 1 token`);
  const most = context.traits.outputTokensMax;
  const isOver = most !== null && requested > most;
  if (isOver) context.notes.drop(word, `found ${requested}; ${modelWord(context)} answers with at most ${most} tokens`);
  return { [context.traits.chat.outputLimitMember]: isOver ? most : requested };
}

/** Stop sequences for upstream or, if it accepts none, for the gateway to apply. */
function renderStop(context: RenderContext): { readonly sent: Draft; readonly stopTexts: readonly string[] } {
  const most = context.traits.chat.stopMax;
  const { sent = [], searched } = splitStop(context.request, (text) => most > 0 && text !== '');
  if (sent.length > most) {
    throw refuseMember(
      callerWord(context, 'stop'),
      `found ${sent.length} texts; ${modelWord(context)} takes at most ${most}`,
    );
  }
  return { sent: sent.length === 0 ? {} : { stop: sent }, stopTexts: searched };
}

/** Omitting a default value loses nothing, so it is not reported. */
const DEFAULTS = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0 } as const;

function renderSampling(context: RenderContext): Draft {
  const { request, traits } = context;
  const sampling: Draft = {};
  for (const name of ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'] as const) {
    const value = request[name];
    if (value === null) continue;
    if (traits.chat.sampling) sampling[name] = value;
    else if (value !== DEFAULTS[name]) drop(name, context);
  }
  if (request.top_k !== null && traits.chat.top_k) sampling.top_k = request.top_k;
  else if (request.top_k !== null) drop('top_k', context);
  if (request.seed !== null) sampling.seed = request.seed;
  if (request.logprobs !== null) {
    sampling.logprobs = true;
    if (request.logprobs.top > 0) sampling.top_logprobs = request.logprobs.top;
  }
  return sampling;
}

function drop(feature: Feature, context: RenderContext): void {
  context.notes.drop(callerWord(context, feature), `${modelWord(context)} does not take it`);
}

/** The note says what depends on the provider or model; the files `render-*.ts` in this folder implement it. */
export const RENDERED_FEATURES: FeatureFates = {
  tools:
    'carried: functions and free-text tools, which compatible hosts get as functions; refused: tools that only another format or its provider has, and models without tools',
  tool_choice:
    'carried: a choice among some tools: the others are omitted if the provider has no such form; a model that cannot be forced while it reasons does not reason then',
  parallel_tool_calls: 'carried: false is dropped if the provider always allows parallel calls',
  output_limit: "carried: lowered to the model's maximum, and named; 0 is refused",
  stop: 'carried: emulated if the provider supports none; more than it supports are refused',
  temperature: 'carried: dropped if the model does not support it',
  top_p: 'carried: dropped if the model does not support it',
  top_k: 'carried: dropped if the provider does not support it',
  frequency_penalty: 'carried: dropped if the model does not support it',
  presence_penalty: 'carried: dropped if the model does not support it',
  seed: 'carried',
  reasoning:
    'emulated: as reasoning_effort, a budget as the effort next to it, and as thinking or enable_thinking where the provider has such a switch; an unsupported effort becomes the nearest, and is named; dropped for a model that is not known to reason; earlier reasoning goes back only if the provider wants it',
  output_format:
    'carried: strict if the schema follows the strict rules; a schema is refused if the model supports none; plain JSON with an instruction if no text asks for it',
  verbosity: 'carried: dropped if the provider does not support it',
  end_user:
    'emulated: as safety_identifier, hashed if it contains device ids; dropped if the provider does not support it',
  service_tier: 'carried: dropped if the provider has no tiers',
  cache_marks:
    'carried: as prompt_cache_breakpoint; dropped if the provider does not support it, and on tools, on calls and on the whole request',
  web_search: 'carried: refused if the provider cannot search',
  logprobs: 'carried',
};
