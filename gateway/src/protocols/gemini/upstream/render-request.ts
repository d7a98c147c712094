/**
 * Renders a canonical request for Gemini's `generateContent`, including its sampling options and limits, and lists how
 * each feature is handled; tools, conversation and thinking have their own files. The model and whether it streams are in
 * the path. https://ai.google.dev/api/generate-content, read 2026-11-22.
 */
import type { Feature, GenerationRequest } from '../../../generation/request.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { capOutput, dropVerbosity, splitStop } from '../../request/answer-limits.ts';
import { type FeatureFates, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { type GeminiModel, modelOf } from '../shared/model-names.ts';
import { renderSchema } from './fit-schema.ts';
import { renderConversation, signCalls } from './render-conversation.ts';
import type { PartContext } from './render-part.ts';
import { renderThinking } from './render-thinking.ts';
import { chooseOutputForm, type OutputForm, renderTools } from './render-tools.ts';

const STOP_MAX = 5;
const TEMPERATURE_MAX = 2;
/** Seeds are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1;

/**
 * Throws CallFailure `invalid_request` for content that cannot be carried; advisory options are dropped into `notes`.
 */
export function renderRequest(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const model = modelOf(traits.model);
  const restored = new Map<string, string>();
  const context: PartContext = { traits, model, notes, restored, called: new Map() };
  const form = chooseOutputForm(request, traits, notes.strict);
  const { tools, toolConfig, custom } = renderTools(request, form, context);
  const { system, contents } = renderConversation(request, form.instruction, context);
  dropVerbosity(request, 'Gemini', notes);
  dropForeign(request, notes);
  const { sent, searched } = splitStop(request, (text) => text !== '', STOP_MAX);
  requireWholeText(request, form, searched);
  const config = renderConfig(request, form, sent, context);
  const body: WritableJson = {
    contents: model.signsCalls ? signCalls(contents) : contents,
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    tools,
    toolConfig,
    generationConfig: Object.values(config).every((value) => value === undefined) ? undefined : config,
    serviceTier: renderServiceTier(request, traits, notes),
  };
  return {
    json: writeJson(body),
    tools: { restored, custom },
    outputTool: form.tool?.name ?? null,
    extractsJson: form.extractsJson,
    stopTexts: searched,
  };
}

function dropForeign({ named, end_user, cache_mark, turns, tools }: GenerationRequest, notes: TranslationNotes) {
  if (end_user !== null) notes.drop(named.end_user ?? 'end_user', 'Gemini has no such member');
  const marked = [cache_mark, ...[...turns.flatMap(({ parts }) => parts), ...tools].map(markOf)];
  if (marked.some((mark) => mark !== null)) {
    notes.drop(named.cache_marks ?? 'cache_control', 'Gemini caches by itself');
  }
}

function markOf(item: GenerationRequest['tools'][number] | GenerationRequest['turns'][number]['parts'][number]) {
  return 'cache_mark' in item ? item.cache_mark : null;
}

function renderConfig(
  request: GenerationRequest,
  form: OutputForm,
  stopSequences: readonly string[] | undefined,
  { traits, model, notes }: PartContext,
): { readonly [member: string]: WritableJson | undefined } {
  const schema = form.schema === null ? null : fitOutputSchema(request, form.schema, notes);
  return {
    ...renderSampling(request, traits, model, notes),
    maxOutputTokens: capOutput(request, traits, notes) ?? undefined,
    stopSequences,
    responseMimeType: form.isJson ? 'application/json' : undefined,
    responseJsonSchema: schema === null ? undefined : new RawJson(schema),
    thinkingConfig: renderThinking(request, traits, notes),
    responseLogprobs: request.logprobs === null ? undefined : true,
    logprobs: request.logprobs === null || request.logprobs.top === 0 ? undefined : request.logprobs.top,
  };
}

/** Throws if the gateway cuts the answer's text: the probabilities would reveal the rest of it. */
function requireWholeText(
  { logprobs, named }: GenerationRequest,
  form: OutputForm,
  stopTexts: readonly string[],
): void {
  if (logprobs === null || (stopTexts.length === 0 && !form.extractsJson && form.tool === null)) return;
  const other = stopTexts.length > 0 ? `more than ${STOP_MAX} stop sequences` : 'an output format and these tools';
  throw refuseMember(named.logprobs ?? 'logprobs', `cannot be carried together with ${other}; leave one of them out`);
}

function fitOutputSchema({ named }: GenerationRequest, schema: string, notes: TranslationNotes): string {
  return renderSchema(schema, `${named.output_format ?? 'output_format'}.schema`, notes);
}

function renderSampling(
  request: GenerationRequest,
  { gemini, model: name }: UpstreamTraits,
  { refusesPenalties }: GeminiModel,
  notes: TranslationNotes,
): { readonly [member: string]: number | undefined } {
  const drop = (feature: Feature, why: string) => notes.drop(request.named[feature] ?? feature, why);
  const { temperature, top_k, seed } = request;
  const penalty = (feature: 'presence_penalty' | 'frequency_penalty') => {
    const value = request[feature];
    if (value === null || !refusesPenalties || gemini.platform === 'vertex') return value ?? undefined;
    if (value !== 0) drop(feature, `${name} takes no penalties`);
    return undefined;
  };
  const isHot = temperature !== null && temperature > TEMPERATURE_MAX;
  if (isHot) drop('temperature', `it is at most ${TEMPERATURE_MAX}; ${TEMPERATURE_MAX} was sent`);
  const isWide = seed !== null && Math.abs(seed) > SEED_MAX;
  if (isWide) drop('seed', 'Gemini takes 32-bit integers');
  return {
    temperature: isHot ? TEMPERATURE_MAX : (temperature ?? undefined),
    topP: request.top_p ?? undefined,
    // Below 1 it means "all", as in vLLM and others.
    topK: top_k === null || top_k < 1 ? undefined : top_k,
    seed: seed === null || isWide ? undefined : seed,
    presencePenalty: penalty('presence_penalty'),
    frequencyPenalty: penalty('frequency_penalty'),
  };
}

const TIERS: ReadonlyMap<string, string> = new Map([
  ['flex', 'FLEX'],
  ['priority', 'PRIORITY'],
]);
const STANDARD_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only']);

function renderServiceTier(
  { service_tier: tier, named }: GenerationRequest,
  { gemini }: UpstreamTraits,
  notes: TranslationNotes,
): string | undefined {
  if (tier === null || STANDARD_TIERS.has(tier)) return undefined;
  const sent = gemini.platform === 'ai_studio' ? TIERS.get(tier) : undefined;
  if (sent === undefined) notes.drop(named.service_tier ?? 'service_tier', 'Google has no tier of that name here');
  return sent;
}

/** The tests check this table against `renderRequest`. */
export const RENDERED_FEATURES: FeatureFates = {
  tools:
    "carried: free-text tools as functions with one text; keywords that Gemini does not take become words in descriptions; searches, fetches and code of other formats as Google's own; other tools and grammars are refused",
  tool_choice: 'carried: with `none`, tools of the provider are left out',
  parallel_tool_calls: 'dropped: `true` has no effect',
  output_limit: "carried: capped at the model's maximum, and named",
  stop: 'carried: the gateway searches for those beyond five',
  temperature: 'carried: lowered to 2 above 2, and named',
  top_p: 'carried',
  top_k: 'carried',
  frequency_penalty: 'carried: dropped for Gemini 2.5 at AI Studio',
  presence_penalty: 'carried: dropped for Gemini 2.5 at AI Studio',
  seed: 'carried: dropped beyond 32 bits',
  reasoning: 'carried: as a budget up to Gemini 2.5, as a level from Gemini 3 on; the nearest is named',
  output_format:
    'carried: keywords that Gemini does not take become words in descriptions, and are named; with tools before Gemini 3 through a tool, plain JSON by an instruction',
  verbosity: 'dropped: `medium` has no effect',
  end_user: 'dropped',
  service_tier: 'carried: flex and priority at AI Studio; others are dropped',
  cache_marks: 'dropped: Gemini caches by itself',
  web_search: "emulated: by Google's own search; beside functions only from Gemini 3 on",
  logprobs: 'carried: refused where the gateway itself cuts the text: a sixth stop sequence, an emulated format',
};
