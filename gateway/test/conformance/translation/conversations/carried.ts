/**
 * Normalizes what must be the same before and after a request passed through formats: every member that all of them
 * carry, without what was reported as dropped. `carried-turns.ts` and `carried-parts.ts` handle turns and parts. Wire
 * reference C.1, C.2 and C.5.
 */
import type { GenerationRequest, ReasoningRequest, Tool, ToolChoice } from '../../../../src/generation/request.ts';
import { completeSchema } from '../../../../src/protocols/openai/function-schema.ts';
import { fitSchema } from '../../../../src/protocols/request/fit-schema.ts';
import type { Format } from '../format.ts';
import { carriedMark, type Way } from './carried-parts.ts';
import { carriedTurns } from './carried-turns.ts';

const JSON_INSTRUCTION = 'Answer with a single JSON object and nothing else.';
const OUTPUT_TOKENS_FALLBACK = 8192;
const NO_ARGUMENTS = '{"type":"object","properties":{}}';
/** Schema keywords in the generated requests that are replaced by descriptions. */
const UNENFORCED = /\.(?:schema|parameters)\.(?:x|nullable|additionalProperties)$/;
const FREE_TEXT = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}';

/** `lost`: features reported as dropped on any leg of the path. */
export function carried(
  request: GenerationRequest,
  through: ReadonlySet<Format>,
  lost: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const [chat, messages] = [through.has('chat'), through.has('messages')];
  const way: Way = { through, marksLost: lost.has('cache_marks') };
  const asksJson = messages && request.output_format?.kind === 'json';
  const tools = carriedTools(request, way, lost.has('strict'));
  const all = {
    model: request.model,
    stream: request.stream,
    turns: carriedTurns(request.turns, asksJson ? JSON_INSTRUCTION : null, way),
    tools,
    tool_choice: carriedChoice(request, tools.length, messages),
    parallel_tool_calls: carriedParallel(request, tools.length, messages),
    output_limit: request.outputTokensMax ?? (messages ? OUTPUT_TOKENS_FALLBACK : null),
    stop: messages ? request.stop.filter((text) => text.trim() !== '') : request.stop,
    temperature: messages && request.temperature === 1 ? null : request.temperature,
    top_p: messages && request.top_p === 1 ? null : request.top_p,
    top_k: request.top_k,
    frequency_penalty: messages ? null : request.frequency_penalty,
    presence_penalty: messages ? null : request.presence_penalty,
    seed: messages ? null : request.seed,
    reasoning: request.reasoning === null ? null : carriedReasoning(request.reasoning, chat, messages),
    output_format: asksJson ? null : carriedFormat(request, chat, messages, lost.has('strict')),
    verbosity: messages ? null : request.verbosity,
    service_tier: request.service_tier === 'standard_only' ? 'default' : request.service_tier,
    cache_mark: chat ? null : carriedMark(request.cache_mark, way),
    web_search: messages ? null : request.web_search,
  };
  return Object.fromEntries(Object.entries(all).filter(([feature]) => !lost.has(feature)));
}

/** Returns the features that a leg's dropped members stand for. */
export function lostFeatures({ named }: GenerationRequest, dropped: readonly string[]): string[] {
  return dropped.map((word) => {
    if (word.endsWith('.strict')) return 'strict';
    if (UNENFORCED.test(word)) return 'schema';
    const feature = Object.entries(named).find(([, name]) => name === word)?.[0];
    return feature ?? (word === 'cache_control' ? 'cache_marks' : word);
  });
}

/** Replaces upstream's aliases with the client's names. */
export function withNames(request: GenerationRequest, restored: ReadonlyMap<string, string>): GenerationRequest {
  if (restored.size === 0) return request;
  const own = (name: string) => restored.get(name) ?? name;
  const turns = request.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => (part.kind === 'tool_call' ? { ...part, name: own(part.name) } : part)),
  }));
  const tools = request.tools.map((tool): Tool => (tool.kind === 'opaque' ? tool : { ...tool, name: own(tool.name) }));
  return { ...request, turns, tools, tool_choice: withChosenNames(request.tool_choice, own) };
}

function withChosenNames(choice: ToolChoice | null, own: (name: string) => string): ToolChoice | null {
  if (choice?.kind === 'tool') return { ...choice, name: own(choice.name) };
  return choice?.kind === 'allowed' ? { ...choice, names: choice.names.map(own) } : choice;
}

function carriedTools(
  { tools, tool_choice: choice, web_search }: GenerationRequest,
  way: Way,
  strictLost: boolean,
): unknown[] {
  const [chat, messages] = [way.through.has('chat'), way.through.has('messages')];
  const offered = tools.filter(
    ({ name }) => !messages || choice?.kind !== 'allowed' || (name !== null && choice.names.includes(name)),
  );
  const searches = messages && web_search !== null ? ['web_search'] : [];
  const own = offered.map((tool) => {
    if (tool.kind === 'opaque') return tool.name === 'web_search' && way.through.size > 1 ? 'web_search' : tool;
    const { name, description } = tool;
    if (tool.kind === 'custom' && !messages) return tool;
    const written = tool.kind === 'custom' ? FREE_TEXT : tool.parameters;
    const parameters = chat && written !== null ? completeSchema(written) : written;
    const isFunction = tool.kind === 'function';
    return {
      name,
      description,
      parameters: messages ? withType(parameters) : parameters,
      strict: isFunction && !strictLost ? tool.strict : null,
      mark: isFunction && !chat ? carriedMark(tool.cache_mark, way) : null,
    };
  });
  return [...own, ...searches];
}

/** Anthropic requires a type, appended to a schema without one, and accepts strict tools only with a closed schema. */
function withType(parameters: string | null): string {
  if (parameters === null) return fitted(NO_ARGUMENTS);
  const schema = JSON.parse(parameters);
  return fitted(schema.type === undefined ? JSON.stringify({ ...schema, type: 'object' }) : parameters);
}

/** The schema as structured output supports it; one that fits is not changed. */
function fitted(schema: string): string {
  return fitSchema(schema).schema;
}

function carriedChoice({ tool_choice: choice }: GenerationRequest, toolCount: number, messages: boolean): unknown {
  if (toolCount === 0) return null;
  const mode = messages && choice?.kind === 'allowed' ? { kind: choice.mode } : choice;
  return messages && mode?.kind === 'auto' ? null : mode;
}

/** Messages can only limit calls to one tool at most, and only where a tool may be called. */
function carriedParallel(
  { parallel_tool_calls: parallel, tool_choice: choice }: GenerationRequest,
  toolCount: number,
  messages: boolean,
): boolean | null {
  if (toolCount === 0) return null;
  return messages && (parallel === true || choice?.kind === 'none') ? null : parallel;
}

const BUDGET_EFFORTS: ReadonlyArray<readonly [number, string]> = [
  [2048, 'low'],
  [8192, 'medium'],
  [24_576, 'high'],
];

/** Chat has a single member for reasoning; messages has no effort below `low`. */
function carriedReasoning(reasoning: ReasoningRequest, chat: boolean, messages: boolean): unknown {
  const { mode, effort, budgetTokens } = reasoning;
  const least = messages ? 'low' : 'minimal';
  if (!chat) return { ...reasoning, mode: mode ?? 'adaptive', effort: effort === 'minimal' ? least : effort };
  if (mode === 'off') return 'none';
  if (mode === 'between_tools') return least;
  if (effort !== null) return effort === 'minimal' ? least : effort;
  if (budgetTokens === null) return null;
  return BUDGET_EFFORTS.find(([most]) => budgetTokens <= most)?.[1] ?? 'xhigh';
}

/** Messages has neither name nor description for a schema and is always strict; chat requires a name. */
function carriedFormat(
  { output_format: format }: GenerationRequest,
  chat: boolean,
  messages: boolean,
  strictLost: boolean,
): unknown {
  if (format?.kind !== 'json_schema') return format;
  if (messages) return { kind: format.kind, schema: fitted(format.schema) };
  return { ...format, name: chat ? (format.name ?? 'output') : format.name, strict: strictLost ? null : format.strict };
}
