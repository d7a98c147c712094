/**
 * Checks whether Anthropic would accept a messages request, from wire reference B.2 to B.4 alone. Uses no product code,
 * so that writer and judge cannot share an error.
 */

import { type Json, list, object } from '../wire-text.ts';
import { isLegalName } from './legal-name.ts';
import { judgeMessagesTurns } from './messages-turns.ts';

const MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
  ...['tools', 'tool_choice', 'thinking', 'output_config', 'metadata', 'service_tier', 'cache_control'],
]);
const TOOL_MEMBERS: ReadonlySet<string> = new Set([
  ...['name', 'description', 'input_schema', 'type', 'cache_control', 'strict'],
]);
const NAME_CHARS_MAX = 128;
const MARKS_MAX = 4;
const BUDGET_TOKENS_MIN = 1024;

/** Returns every rule that the body breaks; empty if it is legal. */
export function judgeMessagesRequest(body: Json): string[] {
  const { faults: inTurns, marks: inMessages } = judgeMessagesTurns(body);
  const marked = [body, ...list(body.tools).map(object)].filter((one) => one?.cache_control !== undefined);
  const marks = marked.length + inMessages;
  return [
    ...Object.keys(body).flatMap((name) => (MEMBERS.has(name) ? [] : [`an unknown member ${name}`])),
    ...(typeof body.model === 'string' && body.model !== '' ? [] : ['no model']),
    ...(isInteger(body.max_tokens, 0) ? [] : [`max_tokens ${body.max_tokens}`]),
    ...(body.stream === undefined || body.stream === true ? [] : ['stream']),
    ...judgeSampling(body),
    ...judgeTools(body),
    ...judgeThinking(body),
    ...judgeSettings(body),
    ...(marks > MARKS_MAX ? [`${marks} cache marks`] : []),
    ...inTurns,
  ];
}

function isInteger(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least;
}

function judgeSampling({ temperature, top_p, top_k, thinking }: Json): string[] {
  const unit = (value: unknown) =>
    value === undefined || (typeof value === 'number' && value >= 0 && value <= 1) ? [] : [`${value} is not in 0..1`];
  const thinks = ['enabled', 'adaptive'].includes(String(object(thinking)?.type));
  const refused = thinks && ((temperature ?? 1) !== 1 || top_k !== undefined || Number(top_p ?? 1) < 0.95);
  return [
    ...unit(temperature),
    ...unit(top_p),
    ...(top_k === undefined || isInteger(top_k, 0) ? [] : [`top_k ${top_k}`]),
    ...(refused ? ['sampling beside thinking'] : []),
  ];
}

function judgeTools(body: Json): string[] {
  const faults: string[] = [];
  const tools = list(body.tools).map((tool) => object(tool) ?? {});
  if (body.tools !== undefined && tools.length === 0) faults.push('an empty list of tools');
  const names = tools.map(({ name }) => String(name));
  if (new Set(names).size < names.length) faults.push(`tools of one name: ${names}`);
  for (const tool of tools) {
    if (!isLegalName(tool.name, NAME_CHARS_MAX)) faults.push(`the tool name ${tool.name}`);
    const isTyped = typeof tool.type === 'string' && tool.type !== 'custom';
    if (isTyped) continue;
    if (object(tool.input_schema)?.type !== 'object') faults.push(`the schema of ${tool.name} is of no object`);
    if (!['undefined', 'string'].includes(typeof tool.description)) faults.push(`the description of ${tool.name}`);
    faults.push(...Object.keys(tool).flatMap((name) => (TOOL_MEMBERS.has(name) ? [] : [`a tool's member ${name}`])));
  }
  const choice = object(body.tool_choice);
  if (choice === null) return body.tool_choice === undefined ? faults : [...faults, 'tool_choice is no object'];
  if (tools.length === 0) faults.push('a choice without tools');
  const { type, name, disable_parallel_tool_use: single } = choice;
  if (!['auto', 'any', 'tool', 'none'].includes(String(type))) faults.push(`tool_choice ${type}`);
  if (type === 'tool' ? !names.includes(String(name)) : name !== undefined) faults.push(`a choice of ${name}`);
  if (single !== undefined && (single !== true || type === 'none')) faults.push('disable_parallel_tool_use');
  if ((type === 'any' || type === 'tool') && object(body.thinking)?.type === 'enabled') {
    faults.push('a forced tool beside a budget of thinking');
  }
  return faults;
}

function judgeThinking({ thinking, max_tokens, output_config }: Json): string[] {
  const faults: string[] = [];
  const config = object(output_config);
  if (output_config !== undefined && config === null) faults.push('output_config is no object');
  const effort = config?.effort;
  if (effort !== undefined && !['low', 'medium', 'high', 'xhigh', 'max'].includes(String(effort))) {
    faults.push(`the effort ${effort}`);
  }
  const format = config?.format;
  if (format !== undefined) {
    const { type, schema } = object(format) ?? {};
    if (type !== 'json_schema' || object(schema) === null) faults.push('output_config.format');
  }
  if (thinking === undefined) return faults;
  const { type, budget_tokens, display } = object(thinking) ?? {};
  if (!['enabled', 'adaptive', 'between_tools', 'disabled'].includes(String(type))) faults.push(`thinking ${type}`);
  const fits = isInteger(budget_tokens, BUDGET_TOKENS_MIN) && budget_tokens < Number(max_tokens);
  if (type === 'enabled' ? !fits : budget_tokens !== undefined) faults.push(`a budget of ${budget_tokens}`);
  if (display !== undefined && !['summarized', 'omitted'].includes(String(display))) faults.push(`display ${display}`);
  return faults;
}

function judgeSettings({ stop_sequences, metadata, service_tier }: Json): string[] {
  const faults: string[] = [];
  const isStop = (text: unknown) => typeof text === 'string' && text.trim() !== '';
  const stops = list(stop_sequences);
  if (stop_sequences !== undefined && (stops.length === 0 || !stops.every(isStop))) faults.push('stop_sequences');
  if (metadata !== undefined && typeof object(metadata)?.user_id !== 'string') faults.push('metadata');
  if (service_tier !== undefined && service_tier !== 'auto' && service_tier !== 'standard_only') {
    faults.push(`the tier ${service_tier}`);
  }
  return faults;
}
