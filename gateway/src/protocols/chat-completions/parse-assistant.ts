/** Owns reading what only an assistant's message holds: calls of tools, refusals, and reasoning in its content. */
import { type Part, type ReasoningPart, type RefusalPart, type ToolCallPart, textPart } from '../../generation/part.ts';
import { type JsonNode, member, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import { refuseMember } from '../translation-notes.ts';
import { MARK_MEMBERS, parseCacheMark } from './parse-cache-mark.ts';
import { type GivenPart, parsePart, parsePartList } from './parse-part.ts';
import { parseReasoning, parseThinkingBlock, REASONING_MEMBERS } from './parse-reasoning.ts';
import {
  dropUnknown,
  given,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalText,
  readText,
} from './read-member.ts';

/** `prefix` asks that an answer's beginning be continued, which its place at the end says already. */
export const ASSISTANT_MEMBERS = ['refusal', 'tool_calls', 'function_call', 'audio', 'prefix', ...REASONING_MEMBERS];

const CALL_MEMBERS = new Set(['id', 'type', 'index', 'function', 'custom', ...MARK_MEMBERS]);
const FUNCTION_MEMBERS = new Set(['name', 'arguments']);
const CUSTOM_MEMBERS = new Set(['name', 'input']);

/** Parts in the order in which a model says them: reasoning, text, refusal, calls. `legacyId` is given to a `function_call`. */
export function parseAssistant(message: JsonNode, path: string, legacyId: string, reading: RequestReading): Part[] {
  if (given(message, 'audio') !== undefined) {
    throw refuseMember(
      `${path}.audio`,
      'names sound of an earlier answer, which only its host knows; send its transcript',
    );
  }
  const parts: Part[] = [...parseReasoning(message, path, reading), ...parseSpoken(message, path, reading)];
  const refusal = readOptionalText(message, 'refusal', `${path}.refusal`);
  if (refusal) parts.push({ kind: 'refusal', text: refusal });
  const calls = given(message, 'tool_calls');
  if (calls !== undefined) {
    const list = readList(calls, `${path}.tool_calls`, 'an array of tool calls');
    for (const [index, call] of list.entries()) parts.push(parseCall(call, `${path}.tool_calls.${index}`, reading));
  }
  const legacy = given(message, 'function_call');
  if (legacy !== undefined) parts.push(parseFunctionCall(legacy, `${path}.function_call`, legacyId));
  return parts;
}

/** An empty content says nothing: it stands beside calls because some hosts refuse null. */
function parseSpoken(message: JsonNode, path: string, reading: RequestReading): Part[] {
  const content = given(message, 'content');
  if (content === undefined) return [];
  const whole = stringValue(content);
  if (whole !== undefined) return whole === '' ? [] : [textPart(whole)];
  const at = `${path}.content`;
  return parsePartList(content, at).map((part, index) => parseAssistantPart(part, `${at}.${index}`, reading));
}

function parseAssistantPart(
  part: JsonNode,
  path: string,
  reading: RequestReading,
): GivenPart | RefusalPart | ReasoningPart {
  const type = member(part, 'type');
  if (type !== undefined && stringValue(type) === 'refusal') {
    return { kind: 'refusal', text: readText(given(part, 'refusal'), `${path}.refusal`) };
  }
  return parseThinkingBlock(part) ?? parsePart(part, path, ['text'], reading);
}

function parseCall(node: JsonNode, path: string, reading: RequestReading): ToolCallPart {
  const call = readObject(node, path, 'a tool call (an object)');
  dropUnknown(call, CALL_MEMBERS, 'messages[].tool_calls[]', reading);
  const id = readName(given(call, 'id'), `${path}.id`, 'the id of the call');
  const type = readOptionalText(call, 'type', `${path}.type`) ?? 'function';
  const cache_mark = parseCacheMark(call, path, reading);
  if (type === 'function') {
    const called = readObject(given(call, 'function'), `${path}.function`, 'an object with name and arguments');
    dropUnknown(called, FUNCTION_MEMBERS, 'messages[].tool_calls[].function', reading);
    return { kind: 'tool_call', id, ...parseCalled(called, `${path}.function`), tool: 'function', cache_mark };
  }
  if (type === 'custom') {
    const custom = readObject(given(call, 'custom'), `${path}.custom`, 'an object with name and input');
    dropUnknown(custom, CUSTOM_MEMBERS, 'messages[].tool_calls[].custom', reading);
    const name = readName(given(custom, 'name'), `${path}.custom.name`, 'the name of a tool');
    const input = readOptionalText(custom, 'input', `${path}.custom.input`) ?? '';
    return { kind: 'tool_call', id, name, tool: 'custom', arguments: input, cache_mark };
  }
  throw refuse(`${path}.type`, given(call, 'type') ?? null, 'function or custom');
}

function parseFunctionCall(node: JsonNode, path: string, id: string): ToolCallPart {
  const called = readObject(node, path, 'an object with name and arguments');
  return { kind: 'tool_call', id, ...parseCalled(called, path), tool: 'function', cache_mark: null };
}

/** The arguments stay the string that the model wrote: it may be empty or no JSON at all. */
function parseCalled(called: JsonNode, path: string): { name: string; arguments: string } {
  const name = readName(given(called, 'name'), `${path}.name`, 'the name of a tool');
  const written = given(called, 'arguments');
  const text = written === undefined ? '' : readText(written, `${path}.arguments`, 'the arguments as a string of JSON');
  return { name, arguments: text };
}
