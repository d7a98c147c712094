/**
 * Checks whether OpenAI would accept a chat completions request, from wire reference A.2 to A.5 alone, plus two
 * extensions of the suites' permissive upstream. Uses no product code.
 */

import { type Json, list, object } from '../wire-text.ts';
import { judgeChatMessages } from './chat-messages.ts';
import { isLegalName } from './legal-name.ts';

const MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'frequency_penalty', 'presence_penalty', 'max_completion_tokens', 'parallel_tool_calls'],
  ...['reasoning_effort', 'response_format', 'safety_identifier', 'seed', 'service_tier', 'stop', 'stream'],
  ...[
    'stream_options',
    'temperature',
    'top_p',
    'tool_choice',
    'tools',
    'verbosity',
    'web_search_options',
    'logprobs',
    'top_logprobs',
  ],
  // An extension of many providers.
  'top_k',
]);
const NAME_CHARS_MAX = 64;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
/** `on_demand` is Groq's own. */
const TIERS = ['on_demand', 'auto', 'default', 'flex', 'scale', 'priority', 'fast'];
const STOPS_MAX = 4;
const IDENTIFIER_CHARS_MAX = 128;

/** Returns every rule that the body breaks; empty if it is legal. */
export function judgeChatRequest(body: Json): string[] {
  return [
    ...Object.keys(body).flatMap((name) => (MEMBERS.has(name) ? [] : [`an unknown member ${name}`])),
    ...Object.entries(body).flatMap(([name, value]) => (value === null ? [`${name} is null`] : [])),
    ...(typeof body.model === 'string' && body.model !== '' ? [] : ['no model']),
    ...judgeNumbers(body),
    ...judgeWords(body),
    ...judgeTools(body),
    ...judgeFormat(body.response_format),
    ...judgeStream(body),
    ...judgeChatMessages(body),
  ];
}

function judgeNumbers(body: Json): string[] {
  const within = (name: string, least: number, most: number, whole = false) => {
    const value = body[name];
    if (value === undefined) return [];
    const holds = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value));
    return holds ? [] : [`${name} is ${value}`];
  };
  const most = Number.MAX_SAFE_INTEGER;
  return [
    ...within('temperature', 0, 2),
    ...within('top_p', 0, 1),
    ...within('frequency_penalty', -2, 2),
    ...within('presence_penalty', -2, 2),
    ...within('max_completion_tokens', 1, most, true),
    ...within('seed', -most, most, true),
    ...within('top_k', -1, most, true),
  ];
}

function judgeWords(body: Json): string[] {
  const { reasoning_effort, service_tier, safety_identifier, stop, verbosity } = body;
  const faults: string[] = [];
  const isIn = (words: readonly string[], value: unknown) => value === undefined || words.includes(String(value));
  if (!isIn(EFFORTS, reasoning_effort)) faults.push(`the effort ${reasoning_effort}`);
  if (!isIn(TIERS, service_tier)) faults.push(`the tier ${service_tier}`);
  if (!isIn(['low', 'medium', 'high'], verbosity)) faults.push(`the verbosity ${verbosity}`);
  const identifier = safety_identifier ?? 'someone';
  if (typeof identifier !== 'string' || identifier.length > IDENTIFIER_CHARS_MAX) faults.push('safety_identifier');
  const stops = typeof stop === 'string' ? [stop] : list(stop);
  const isTexts = stops.every((text) => typeof text === 'string') && stops.length <= STOPS_MAX;
  if (stop !== undefined && (stops.length === 0 || !isTexts)) faults.push('stop');
  return faults;
}

function judgeTools(body: Json): string[] {
  const faults: string[] = [];
  const tools = list(body.tools).map((tool) => object(tool) ?? {});
  if (body.tools !== undefined && tools.length === 0) faults.push('an empty list of tools');
  if (tools.length === 0 && (body.tool_choice ?? body.parallel_tool_calls) !== undefined) {
    faults.push('a choice without tools');
  }
  for (const tool of tools) {
    const named = object(tool[String(tool.type)]);
    if (!['function', 'custom'].includes(String(tool.type)) || named === null)
      faults.push(`a tool of type ${tool.type}`);
    else faults.push(...judgeTool(tool, named));
  }
  const names = tools.map((tool) => `${tool.type} ${object(tool[String(tool.type)])?.name}`);
  return [...faults, ...judgeChoice(body.tool_choice, names)];
}

function judgeTool(tool: Json, named: Json): string[] {
  const isFunction = tool.type === 'function';
  const known = isFunction ? ['name', 'description', 'parameters', 'strict'] : ['name', 'description', 'format'];
  const { parameters, strict } = named;
  return [
    ...Object.keys(named).flatMap((name) => (known.includes(name) ? [] : [`a tool's member ${name}`])),
    ...(Object.keys(tool).length === 2 ? [] : [`a tool has ${Object.keys(tool)}`]),
    ...(isLegalName(named.name, NAME_CHARS_MAX) ? [] : [`the tool name ${named.name}`]),
    ...(parameters === undefined || object(parameters) !== null ? [] : ['parameters']),
    ...(strict === true && !isClosed(parameters) ? [`the strict tool ${named.name} has an open schema`] : []),
  ];
}

/** The minimum for a strict schema: objects are closed and require all of their members. */
function isClosed(value: unknown): boolean {
  const schema = object(value);
  if (schema === null) return !Array.isArray(value) || value.every((one) => object(one) === null || isClosed(one));
  if (schema.type === 'object') {
    const names = Object.keys(object(schema.properties) ?? {});
    if (schema.additionalProperties !== false || !names.every((name) => list(schema.required).includes(name)))
      return false;
  }
  return [...Object.values(object(schema.properties) ?? {}), schema.items, schema.anyOf].every(
    (inner) => inner === undefined || isClosed(inner),
  );
}

function judgeChoice(choice: unknown, names: readonly string[]): string[] {
  if (choice === undefined || ['none', 'auto', 'required'].includes(String(choice))) return [];
  const { type, allowed_tools } = object(choice) ?? {};
  const chosen = type === 'allowed_tools' ? list(object(allowed_tools)?.tools) : [choice];
  return chosen.flatMap((one) => {
    const { type: kind, ...rest } = object(one) ?? {};
    const name = `${kind} ${object(rest[String(kind)])?.name}`;
    return names.includes(name) ? [] : [`a choice of ${name}`];
  });
}

function judgeFormat(format: unknown): string[] {
  if (format === undefined) return [];
  const { type, json_schema } = object(format) ?? {};
  if (type === 'json_object') return [];
  const { name, schema, strict } = object(json_schema) ?? {};
  const holds = type === 'json_schema' && isLegalName(name, NAME_CHARS_MAX) && object(schema) !== null;
  return [...(holds ? [] : ['response_format']), ...(strict === true && !isClosed(schema) ? ['an open schema'] : [])];
}

function judgeStream({ stream, stream_options }: Json): string[] {
  if (stream === undefined) return stream_options === undefined ? [] : ['stream_options without stream'];
  const asksUsage = object(stream_options)?.include_usage === true;
  return stream === true && asksUsage ? [] : ['a stream without usage'];
}
