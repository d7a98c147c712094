/** Renders a canonical request as a Responses body, and lists how each feature is handled. Source: specification, F.4. */
import type { GenerationRequest, Tool, ToolChoice } from '../../../generation/request.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { parseObject } from '../../json.ts';
import { fitFunctionSchema } from '../../openai/function-schema.ts';
import { callerWord, type Draft, modelWord, type OpenaiContext, upstreamName } from '../../openai/render-context.ts';
import { askForJson, renderCaller, renderSchema } from '../../openai/render-options.ts';
import { isStrictSchema } from '../../openai/strict-schema.ts';
import { splitStop } from '../../request/answer-limits.ts';
import { requireTools } from '../../request/emulated-tools.ts';
import { nearestEffort, requestedEffort } from '../../request/reasoning-effort.ts';
import { type FeatureFates, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { renderInput } from './render-input.ts';

/** The least that OpenAI takes. */
const OUTPUT_TOKENS_MIN = 16;

/** Throws CallFailure `invalid_request`, with the caller's member names, for what cannot be carried. */
export function renderRequest(
  written: GenerationRequest,
  traits: UpstreamTraits,
  notes: TranslationNotes,
): RenderedRequest {
  const request = askForJson(written);
  const context: OpenaiContext = { request, traits, notes, restored: new Map() };
  if (request.logprobs !== null) {
    throw refuseMember(
      callerWord(context, 'logprobs'),
      `${modelWord(context)} is not asked for probabilities; leave it out`,
    );
  }
  for (const feature of ['top_k', 'frequency_penalty', 'presence_penalty', 'seed'] as const) {
    if (request[feature]) notes.drop(callerWord(context, feature), 'the format of the provider has no such member');
  }
  const body: Draft = {
    model: traits.model,
    input: renderInput(context),
    store: false,
    ...renderTools(context),
    max_output_tokens: renderOutputLimit(context),
    ...renderSampling(context),
    ...renderReasoning(context),
    text: renderText(context),
    ...renderCaller(request),
    ...(request.stream && { stream: true, stream_options: { include_obfuscation: false } }),
  };
  return {
    json: writeJson(body),
    tools: { restored: context.restored, custom: new Set() },
    outputTool: null,
    extractsJson: false,
    stopTexts: splitStop(request, () => false).searched,
  };
}

function renderOutputLimit(context: OpenaiContext): number | undefined {
  const { outputTokensMax: asked } = context.request;
  if (asked === null) return undefined;
  const word = callerWord(context, 'output_limit');
  if (asked === 0) throw refuseMember(word, `found 0; ${modelWord(context)} answers with at least 1 token`);
  const sent = Math.max(OUTPUT_TOKENS_MIN, Math.min(asked, context.traits.outputTokensMax ?? asked));
  if (sent !== asked)
    context.notes.drop(word, `found ${asked}; ${modelWord(context)} takes another range; ${sent} was sent`);
  return sent;
}

function renderSampling(context: OpenaiContext): Draft {
  const sampling: Draft = {};
  for (const name of ['temperature', 'top_p'] as const) {
    const value = context.request[name];
    if (value === null) continue;
    if (context.traits.chat.sampling) sampling[name] = value;
    else if (value !== 1) context.notes.drop(callerWord(context, name), `${modelWord(context)} does not take it`);
  }
  return sampling;
}

/** Sealed reasoning is always requested: the gateway gives it back with the calls after it. */
function renderReasoning(context: OpenaiContext): Draft {
  const { request, traits } = context;
  const reasons = traits.takes.reasoning === true || !traits.chat.sampling;
  const include = reasons ? { include: ['reasoning.encrypted_content'] } : {};
  if (request.reasoning === null) return include;
  const requested = requestedEffort(request.reasoning);
  const { efforts } = traits.chat;
  const sent = requested === null || efforts === null ? requested : nearestEffort(requested, efforts);
  const isOff = requested === 'none';
  if (!reasons || (requested !== null && sent === null)) {
    if (!isOff)
      context.notes.drop(callerWord(context, 'reasoning'), `${modelWord(context)} takes no effort of reasoning`);
    return include;
  }
  const isNamed = isOff || request.reasoning.effort === requested;
  if (sent !== requested && isNamed) {
    const why = `${modelWord(context)} has no effort ${requested}; ${sent} is the nearest`;
    context.notes.drop(callerWord(context, 'reasoning'), why);
  }
  const summary = isOff || request.reasoning.display === 'omitted' ? undefined : 'auto';
  return { ...include, reasoning: { effort: sent ?? undefined, summary } };
}

function renderText(context: OpenaiContext): Draft | undefined {
  const { output_format: format, verbosity } = context.request;
  if (format === null && verbosity === null) return undefined;
  return { format: renderFormat(context), verbosity: verbosity ?? undefined };
}

function renderFormat(context: OpenaiContext): Draft | undefined {
  const format = context.request.output_format;
  if (format === null) return undefined;
  if (format.kind === 'json') return { type: 'json_object' };
  const word = callerWord(context, 'output_format');
  const schema = renderSchema(format, context);
  return { type: 'json_schema', ...schema, strict: renderStrict(format.strict, format.schema, word, context) };
}

/** Always explicit, because the provider makes a schema strict that can be. */
function renderStrict(strict: boolean | null, schema: string | null, word: string, context: OpenaiContext): boolean {
  if (!strict) return false;
  if (schema !== null && isStrictSchema(schema)) return true;
  context.notes.drop(`${word}.strict`, `${modelWord(context)} cannot promise to keep this schema`);
  return false;
}

function renderTools(context: OpenaiContext): Draft {
  const { request, traits } = context;
  const { tools, tool_choice, parallel_tool_calls } = request;
  const search = renderSearch(context);
  if (tool_choice !== null) requireTools(request, tool_choice, tools.length + search.length);
  if (tools.length + search.length === 0) return {};
  if (tools.length > 0 && traits.takes.tools === false)
    throw refuseMember(callerWord(context, 'tools'), `${modelWord(context)} cannot call tools; leave them out`);
  const word = callerWord(context, 'tools');
  return {
    tools: [...tools.map((tool, index) => renderTool(tool, `${word}.${index}`, context)), ...search],
    tool_choice: tool_choice === null ? undefined : renderChoice(tool_choice, context),
    parallel_tool_calls: parallel_tool_calls ?? undefined,
  };
}

function renderSearch({ request: { web_search } }: OpenaiContext): Draft[] {
  if (web_search === null) return [];
  const { context_size, location } = web_search;
  const user_location = location === null ? undefined : { type: 'approximate', ...parseObject(location) };
  return [
    {
      type: 'web_search',
      search_context_size: context_size ?? undefined,
      user_location: user_location as WritableJson,
    },
  ];
}

function renderTool(tool: Tool, path: string, context: OpenaiContext): Draft {
  if (tool.kind === 'opaque') {
    const type = JSON.stringify(tool.type);
    const why = `found a tool of type ${type}, which ${modelWord(context)} does not have; leave it out or send a function`;
    throw refuseMember(callerWord(context, 'tools'), why);
  }
  const described = { name: upstreamName(tool.name, context), description: tool.description ?? undefined };
  if (tool.kind === 'custom') {
    const grammar = tool.grammar === null ? null : parseObject(tool.grammar);
    const format = grammar === null ? undefined : ({ type: 'grammar', ...grammar } as WritableJson);
    return { type: 'custom', ...described, format };
  }
  if (tool.cache_mark !== null) context.notes.drop(callerWord(context, 'cache_marks'), 'the provider caches by itself');
  const { parameters } = tool;
  const strict = renderStrict(tool.strict, parameters, path, context);
  return {
    type: 'function',
    ...described,
    parameters: parameters === null ? null : new RawJson(fitFunctionSchema(parameters)),
    strict,
  };
}

function renderChoice(choice: ToolChoice, context: OpenaiContext): WritableJson {
  const named = (name: string): Draft => {
    const isCustom = context.request.tools.some((tool) => tool.kind === 'custom' && tool.name === name);
    return { type: isCustom ? 'custom' : 'function', name: upstreamName(name, context) };
  };
  if (choice.kind === 'tool') return named(choice.name);
  if (choice.kind !== 'allowed') return choice.kind;
  return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(named) };
}

export const RENDERED_FEATURES: FeatureFates = {
  tools: 'carried: refused: tools that only another format or its provider has, and models without tools',
  tool_choice: 'carried',
  parallel_tool_calls: 'carried',
  output_limit: "carried: raised to 16 and lowered to the model's maximum, and named; 0 is refused",
  stop: 'emulated: the gateway looks for the texts in the answer',
  temperature: 'carried: dropped if the model does not support it',
  top_p: 'carried: dropped if the model does not support it',
  top_k: 'dropped',
  frequency_penalty: 'dropped: 0 has no effect',
  presence_penalty: 'dropped: 0 has no effect',
  seed: 'dropped: 0 has no effect',
  reasoning: 'emulated: as reasoning.effort; an unsupported effort becomes the nearest, and is named',
  output_format:
    'carried: strict only if requested, and the schema follows the strict rules; plain JSON with an instruction if no text asks for it',
  verbosity: 'carried',
  end_user: 'emulated: as safety_identifier, hashed if it contains device ids',
  service_tier: 'carried',
  cache_marks: 'dropped: the provider caches by itself',
  web_search: 'carried: as a tool',
  logprobs: 'refused: the provider is not asked for probabilities',
};
