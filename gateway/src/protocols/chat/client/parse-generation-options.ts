/**
 * Parses the options of a chat-completions body: tools, output format, stop sequences, web search, stream options, and
 * reasoning as `reasoning_effort`, OpenRouter's `reasoning`, and `thinking` as Anthropic, DeepSeek and others
 * accept it. Sources: https://openrouter.ai/docs/use-cases/reasoning-tokens and
 * https://docs.claude.com/en/api/openai-sdk, read 2026-11-22.
 */
import type {
  OutputFormat,
  ReasoningEffort,
  ReasoningRequest,
  Tool,
  WebSearchRequest,
} from '../../../generation/request.ts';
import { type JsonNode, jsonText, numberValue, stringValue } from '../../../wire/json-node.ts';
import {
  parseEffort,
  parseOutputFormat,
  parseSchema,
  REASONING_OFF,
  REASONING_ON,
} from '../../openai/parse-options.ts';
import { parseFunction, parseGrammarFormat, TOOL_NAME } from '../../openai/parse-tools.ts';
import {
  dropUnknown,
  given,
  MARK_MEMBERS,
  parseCacheMark,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalText,
  readText,
} from '../../openai/read-member.ts';
import { checkInteger, refuse } from '../../request/request-facts.ts';
import { refuseMember } from '../../request/translation-notes.ts';

const FORMAT_MEMBERS = new Set(['type', 'json_schema']);
const SCHEMA_MEMBERS = new Set(['name', 'description', 'schema', 'strict']);
const SEARCH_MEMBERS = new Set(['search_context_size', 'user_location']);

/** Null: plain text. */
export function parseResponseFormat(root: JsonNode, reading: RequestReading): OutputFormat | null {
  const node = given(root, 'response_format');
  return parseOutputFormat(node, 'response_format', FORMAT_MEMBERS, reading, (format) =>
    parseJsonSchema(format, reading),
  );
}

/** Without a schema it only means that the answer is JSON. */
function parseJsonSchema(format: JsonNode, reading: RequestReading): OutputFormat {
  const path = 'response_format.json_schema';
  const holder = readObject(given(format, 'json_schema'), path, 'an object with name and schema');
  dropUnknown(holder, SCHEMA_MEMBERS, path, reading);
  if (given(holder, 'schema') === undefined) return { kind: 'json' };
  const parsed = parseSchema(holder, path);
  // The format's own default (wire reference A.2), made explicit because other formats have another.
  return { ...parsed, strict: parsed.strict ?? false };
}

/** One string or an array. */
export function parseStop(root: JsonNode, reading: RequestReading): string[] {
  const stop = given(root, 'stop');
  if (stop === undefined) return [];
  const single = stringValue(stop);
  const texts =
    single !== undefined
      ? [single]
      : readList(stop, 'stop', 'a string or an array of strings').map((text, index) => readText(text, `stop.${index}`));
  if (texts.length > 0) reading.named.stop = 'stop';
  return texts;
}

export function parseWebSearch(root: JsonNode, reading: RequestReading): WebSearchRequest | null {
  const node = given(root, 'web_search_options');
  if (node === undefined) return null;
  const path = 'web_search_options';
  const search = readObject(node, path, 'an object');
  dropUnknown(search, SEARCH_MEMBERS, path, reading);
  reading.named.web_search = path;
  const place = given(search, 'user_location');
  const location =
    place === undefined ? undefined : given(readObject(place, `${path}.user_location`, 'an object'), 'approximate');
  return {
    context_size: readOptionalText(search, 'search_context_size', `${path}.search_context_size`),
    location:
      location === undefined ? null : jsonText(readObject(location, `${path}.user_location.approximate`, 'an object')),
  };
}

/** Checks `stream_options`. Nothing of it goes upstream: usage is always requested, and the gateway adds no padding. */
export function checkStreamOptions(root: JsonNode, stream: boolean, reading: RequestReading): void {
  const options = given(root, 'stream_options');
  if (options === undefined) return;
  readObject(options, 'stream_options', 'an object');
  if (!stream)
    throw refuseMember('stream_options', 'is only taken where stream is true; set stream to true or leave it out');
  dropUnknown(options, new Set(['include_usage']), 'stream_options', reading);
}

const REASONING_MEMBERS = new Set(['effort', 'max_tokens', 'enabled', 'exclude']);
const THINKING_MEMBERS = new Set(['type', 'budget_tokens', 'display']);
const THINKING_TYPES = 'one of enabled, disabled, adaptive, auto, between_tools';

/** OpenRouter's effort for `enabled: true` alone. */
const EFFORT_UNSAID: ReasoningEffort = 'medium';

/** Null: nothing requested. If members contradict each other, the first of the three wins; the others are dropped. */
export function parseReasoningOptions(root: JsonNode, reading: RequestReading): ReasoningRequest | null {
  let request: ReasoningRequest | null = null;
  for (const [member, parse] of SOURCES) {
    const found = parse(root, reading);
    if (found === null) continue;
    const joined: ReasoningRequest | null = request === null ? found : join(request, found);
    if (joined === null) reading.notes.drop(member, `${reading.named.reasoning} is set beside it and wins`);
    else request = joined;
    reading.named.reasoning ??= member;
  }
  if (request === null || request.mode !== null || request.effort !== null) return request;
  return { ...request, effort: EFFORT_UNSAID };
}

const SOURCES = [
  ['reasoning_effort', parseEffortMember],
  ['reasoning', parseReasoningMember],
  ['thinking', parseThinkingMember],
] as const;

/** The two requests combined; null: they contradict each other. */
function join(one: ReasoningRequest, other: ReasoningRequest): ReasoningRequest | null {
  if ((one.mode === 'off') !== (other.mode === 'off')) return null;
  for (const member of ['mode', 'budgetTokens', 'effort', 'display'] as const) {
    if (one[member] !== null && other[member] !== null && one[member] !== other[member]) return null;
  }
  return {
    mode: one.mode ?? other.mode,
    budgetTokens: one.budgetTokens ?? other.budgetTokens,
    effort: one.effort ?? other.effort,
    display: one.display ?? other.display,
  };
}

function parseEffortMember(root: JsonNode): ReasoningRequest | null {
  return parseGivenEffort(root, 'reasoning_effort', 'reasoning_effort');
}

/** Null: absent, or `default`, Groq's word for leaving the effort to the model (recorded in 2025). */
function parseGivenEffort(holder: JsonNode, name: string, path: string): ReasoningRequest | null {
  const node = given(holder, name);
  return node === undefined || stringValue(node) === 'default' ? null : parseEffort(node, path);
}

function parseReasoningMember(root: JsonNode, reading: RequestReading): ReasoningRequest | null {
  const options = readOptions(root, 'reasoning', REASONING_MEMBERS, reading);
  if (options === null) return null;
  const byEffort = parseGivenEffort(options, 'effort', 'reasoning.effort');
  const budgetTokens = readBudget(options, 'max_tokens', 'reasoning.max_tokens');
  const enabled = readOptionalBoolean(options, 'enabled', 'reasoning.enabled');
  const hides = readOptionalBoolean(options, 'exclude', 'reasoning.exclude') === true;
  if (byEffort === REASONING_OFF || (enabled === false && byEffort === null && budgetTokens === null))
    return REASONING_OFF;
  if (byEffort === null && budgetTokens === null && enabled !== true) {
    if (hides) reading.notes.drop('reasoning.exclude', 'no reasoning is asked for beside it');
    return null;
  }
  return {
    mode: budgetTokens === null ? null : 'budget',
    budgetTokens,
    effort: byEffort?.effort ?? null,
    display: hides ? 'omitted' : null,
  };
}

function parseThinkingMember(root: JsonNode, reading: RequestReading): ReasoningRequest | null {
  const options = readOptions(root, 'thinking', THINKING_MEMBERS, reading);
  if (options === null) return null;
  const budgetTokens = readBudget(options, 'budget_tokens', 'thinking.budget_tokens');
  const display = parseDisplay(options);
  const type = readOptionalText(options, 'type', 'thinking.type');
  if (type === null && budgetTokens === null) return null;
  switch (type) {
    case null:
    case 'enabled':
      return { ...REASONING_ON, mode: budgetTokens === null ? null : 'budget', budgetTokens, display };
    case 'disabled':
      return REASONING_OFF;
    case 'adaptive':
    case 'auto':
      return { ...REASONING_ON, mode: 'adaptive', display };
    case 'between_tools':
      return { ...REASONING_ON, mode: 'between_tools', display };
    default:
      throw refuse('thinking.type', given(options, 'type') ?? null, THINKING_TYPES);
  }
}

function parseDisplay(options: JsonNode): ReasoningRequest['display'] {
  const word = readOptionalText(options, 'display', 'thinking.display');
  if (word === null || word === 'summarized' || word === 'omitted') return word;
  throw refuse('thinking.display', given(options, 'display') ?? null, 'summarized or omitted');
}

/** The member's object; null if absent. Another type is some provider's own extension and is dropped. */
function readOptions(
  root: JsonNode,
  name: string,
  known: ReadonlySet<string>,
  reading: RequestReading,
): JsonNode | null {
  const node = given(root, name);
  if (node === undefined) return null;
  if (node.kind === 'object') {
    dropUnknown(node, known, name, reading);
    return node;
  }
  if (node.kind !== 'false') reading.notes.drop(name, 'found no object, which alone can be carried');
  return null;
}

function readBudget(options: JsonNode, name: string, path: string): number | null {
  const node = given(options, name);
  if (node === undefined) return null;
  checkInteger(node, path, 1, false);
  return numberValue(node) ?? null;
}

const TOOL_MEMBERS = new Set(['type', 'function', 'custom', ...MARK_MEMBERS]);
const FUNCTION_MEMBERS = new Set(['name', 'description', 'parameters', 'strict', ...MARK_MEMBERS]);
const CUSTOM_MEMBERS = new Set(['name', 'description', 'format']);

export function parseTools(root: JsonNode, reading: RequestReading): Tool[] {
  const tools = parseList(root, 'tools', parseTool, reading);
  const functions = parseList(root, 'functions', parseFunctionMember, reading);
  if (tools.length > 0 && functions.length > 0) {
    throw refuseMember('functions', 'stands beside tools, which replaced it; put all of them into tools');
  }
  if (tools.length > 0) reading.named.tools = 'tools';
  if (functions.length > 0) reading.named.tools = 'functions';
  return tools.length > 0 ? tools : functions;
}

type ParseTool = (node: JsonNode, path: string, reading: RequestReading) => Tool;

function parseList(root: JsonNode, name: string, parse: ParseTool, reading: RequestReading): Tool[] {
  const list = given(root, name);
  if (list === undefined) return [];
  return readList(list, name, 'an array of tools').map((tool, index) => parse(tool, `${name}.${index}`, reading));
}

/** A tool with a function but no type is a function, because several clients send it so. */
function parseTool(node: JsonNode, path: string, reading: RequestReading): Tool {
  const tool = readObject(node, path, 'a tool definition (an object)');
  const type = readOptionalText(tool, 'type', `${path}.type`);
  if (type !== null && type !== 'function' && type !== 'custom') {
    return {
      kind: 'opaque',
      type,
      name: readOptionalText(tool, 'name', `${path}.name`),
      native: { origin: 'chat', json: jsonText(tool) },
    };
  }
  dropUnknown(tool, TOOL_MEMBERS, path, reading);
  if (type === 'custom') return parseCustom(given(tool, 'custom'), `${path}.custom`, reading);
  const mark = parseCacheMark(tool, path, reading);
  const parsed = parseFunctionMember(given(tool, 'function'), `${path}.function`, reading);
  return { ...parsed, cache_mark: mark ?? parsed.cache_mark };
}

function parseFunctionMember(
  node: JsonNode | undefined,
  path: string,
  reading: RequestReading,
): Extract<Tool, { kind: 'function' }> {
  const named = readObject(node, path, 'an object with name, description and parameters');
  dropUnknown(named, FUNCTION_MEMBERS, path, reading);
  return { ...parseFunction(named, path), cache_mark: parseCacheMark(named, path, reading) };
}

function parseCustom(node: JsonNode | undefined, path: string, reading: RequestReading): Tool {
  const custom = readObject(node, path, 'an object with a name');
  dropUnknown(custom, CUSTOM_MEMBERS, path, reading);
  return {
    kind: 'custom',
    name: readName(given(custom, 'name'), `${path}.name`, TOOL_NAME),
    description: readOptionalText(custom, 'description', `${path}.description`),
    grammar: parseGrammar(custom, `${path}.format`),
  };
}

/** `{definition, syntax}` verbatim. */
function parseGrammar(custom: JsonNode, path: string): string | null {
  const format = parseGrammarFormat(custom, path);
  if (format === null) return null;
  return jsonText(readObject(given(format, 'grammar'), `${path}.grammar`, 'an object with definition and syntax'));
}
