/**
 * Renders a canonical request for a messages upstream, including its limits, and lists how each feature is handled;
 * tools, conversation, sampling and reasoning have their own files. Source: wire reference C.1.
 */
import type { GenerationRequest } from '../../../generation/request.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { capOutput, dropVerbosity, isVisible, splitStop } from '../../request/answer-limits.ts';
import { renderSampling, SAMPLING_FATES } from '../../request/anthropic-sampling.ts';
import { renderReasoning } from '../../request/anthropic-thinking.ts';
import { ArgumentAliases } from '../../request/argument-aliases.ts';
import { renderSchema } from '../../request/fit-schema.ts';
import { chooseOutputForm } from '../../request/output-form.ts';
import type { FeatureFates, TranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { keepLastMarks, renderCacheMark, type WrittenBlock } from './cache-control.ts';
import { type Conversation, renderConversation } from './render-conversation.ts';
import { isForced, renderToolChoice, renderTools } from './render-tools.ts';

/** Output limit if neither the client nor the model's data has one: every model of the format supports it. */
const OUTPUT_TOKENS_FALLBACK = 8192;

/**
 * Throws CallFailure `invalid_request` for content that cannot be carried; advisory options are dropped into `notes`.
 */
export function renderRequest(
  request: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const restored = new Map<string, string>();
  const argumentAliases = new ArgumentAliases();
  const context = { traits, notes, restored, argumentAliases };
  const form = chooseOutputForm(request, traits, notes.strict);
  const { tools, custom } = renderTools(request, form, context);
  const choice = renderToolChoice(request, form, tools.length, traits);
  const conversation = renderConversation(request, context);
  limitMarks(request, tools, conversation, notes);
  const max_tokens = capOutput(request, traits, notes) ?? traits.outputTokensMax ?? OUTPUT_TOKENS_FALLBACK;
  const { lacksThinking } = conversation;
  const around = { outputTokensMax: max_tokens, lacksThinking, forcedTool: isForced(choice) };
  const reasoning = renderReasoning(request, traits, around, notes);
  const system = form.instruction === null ? conversation.system : [...conversation.system, instruct(form.instruction)];
  const { sent, searched } = splitStop(request, isVisible);
  dropVerbosity(request, 'the messages format', notes);
  const body: WritableJson = {
    model: traits.model,
    max_tokens,
    stream: request.stream ? true : undefined,
    system: system.length === 0 ? undefined : system,
    messages: conversation.messages.map(({ role, content }) => ({ role, content })),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: choice ?? undefined,
    stop_sequences: sent,
    ...renderSampling(request, traits, reasoning.thinks, notes),
    thinking: reasoning.thinking,
    output_config: renderOutputConfig(reasoning.effort, fitOutputSchema(request, form.schema, notes)),
    metadata: request.end_user === null ? undefined : { user_id: request.end_user },
    service_tier: renderServiceTier(request, notes),
    cache_control: renderCacheMark(request.cache_mark),
  };
  return {
    json: writeJson(body),
    tools: { restored, custom, ownArguments: argumentAliases.own },
    outputTool: form.tool?.name ?? null,
    extractsJson: form.extractsJson,
    stopTexts: searched,
  };
}

function instruct(text: string): WrittenBlock {
  return { type: 'text', text };
}

function fitOutputSchema({ named }: GenerationRequest, schema: string | null, notes: TranslationNotes): string | null {
  return schema === null ? null : renderSchema(schema, `${named.output_format ?? 'output_format'}.schema`, notes);
}

function renderOutputConfig(effort: string | undefined, schema: string | null): WritableJson | undefined {
  if (effort === undefined && schema === null) return undefined;
  return { effort, format: schema === null ? undefined : { type: 'json_schema', schema: new RawJson(schema) } };
}

function renderServiceTier({ service_tier, named }: GenerationRequest, notes: TranslationNotes): string | undefined {
  switch (service_tier) {
    case null:
      return undefined;
    case 'auto':
      return 'auto';
    case 'default':
    case 'standard_only':
      return 'standard_only';
    default:
      notes.drop(named.service_tier ?? 'service_tier', 'Anthropic has no tier of that name');
      return undefined;
  }
}

function limitMarks(
  { cache_mark, named }: GenerationRequest,
  tools: readonly WrittenBlock[],
  { system, messages }: Conversation,
  notes: TranslationNotes,
): void {
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content.flatMap(withInner))];
  const taken = keepLastMarks(blocks, cache_mark === null ? 0 : 1);
  if (taken > 0)
    notes.drop(named.cache_marks ?? 'cache_control', 'a request has at most four marks; the last four were kept');
}

/** The blocks inside a tool result precede its end. */
function withInner(block: WrittenBlock): WrittenBlock[] {
  if (block instanceof RawJson || block.type !== 'tool_result' || !Array.isArray(block.content)) return [block];
  return [...(block.content as WrittenBlock[]), block];
}

/** The tests check this table against `renderRequest`. */
export const RENDERED_FEATURES: FeatureFates = {
  tools:
    'carried: free-text tools as functions with one text; the schema of a strict tool like that of an answer; grammars and tools of other formats are refused',
  tool_choice: 'carried: refused if the model cannot be forced to call a tool',
  parallel_tool_calls: 'carried: as disable_parallel_tool_use',
  output_limit:
    "carried: capped at the model's maximum, and named; without one, the model's maximum, or 8192 where it is unknown",
  stop: 'carried: the gateway searches for texts of white space only',
  ...SAMPLING_FATES,
  top_k: 'carried: dropped if the model does not support it or thinks',
  reasoning: 'carried: as adaptive thinking with an effort, or a budget, whichever the model supports',
  output_format:
    'carried: a schema as output_config.format, its objects closed, or through a tool, as that of a map or a tree; keywords that Anthropic refuses become words in descriptions, and are named; plain JSON by an instruction, and taken out of what the model wrote around it',
  verbosity: 'dropped: `medium` has no effect',
  end_user: 'carried: as metadata.user_id',
  service_tier: 'carried: auto, and default as standard_only; others are dropped',
  cache_marks: 'carried: the last four; up to 5 minutes, or an hour',
  web_search: "emulated: by Anthropic's own search tool; refused at other providers",
};
