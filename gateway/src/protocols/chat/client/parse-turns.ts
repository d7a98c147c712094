/**
 * Parses `messages`, one turn for each, with the reasoning, tool calls and host data of assistant turns. The upstream's
 * renderer checks that tool calls and results match.
 */
import {
  type CacheMark,
  type Native,
  type Part,
  type ReasoningPart,
  type RefusalPart,
  type ToolCallPart,
  type ToolResultPart,
  textPart,
} from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { packSignature, signatureIn } from '../../host-data.ts';
import { parseObject } from '../../json.ts';
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
import { refuse } from '../../request/request-facts.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { type GivenPart, type GivenType, parseContent, parsePart, parsePartList } from './parse-part.ts';

const REASONING_MEMBERS = ['reasoning_details', 'thinking_blocks', 'reasoning_content', 'reasoning'] as const;

/** The `format` prefix of Anthropic's signatures in `reasoning_details`; gateways may omit `format`. */
const ANTHROPIC_FORMAT = 'anthropic';

/**
 * Reasoning parts of one message. Several members hold the same text: signed blocks win over plain text, and the first
 * of two plain texts wins.
 */
function parseReasoning(message: JsonNode, path: string, reading: RequestReading): ReasoningPart[] {
  const details = parseBlocks(message, 'reasoning_details', parseDetail, reading);
  if (details.length > 0) return details;
  const blocks = parseBlocks(message, 'thinking_blocks', parseThinkingBlock, reading);
  if (blocks.length > 0) return blocks;
  const text =
    readOptionalText(message, 'reasoning_content', `${path}.reasoning_content`) ||
    readOptionalText(message, 'reasoning', `${path}.reasoning`);
  return text ? [unsigned(text)] : [];
}

/** A block in the messages format, or in Mistral's: a list of texts. Null: another kind of block. */
function parseThinkingBlock(block: JsonNode): ReasoningPart | null {
  const type = textOf(block, 'type');
  if (type === 'redacted_thinking') return redacted(textOf(block, 'data'), 'messages');
  if (type !== 'thinking') return null;
  const thinking = given(block, 'thinking');
  const text =
    thinking === undefined
      ? ''
      : (stringValue(thinking) ??
        elements(thinking)
          .map((piece) => textOf(piece, 'text'))
          .join(''));
  return signed(text, textOf(block, 'signature'), 'messages');
}

/** An entry of `reasoning_details`. Null: unknown type. */
function parseDetail(detail: JsonNode): ReasoningPart | null {
  const format = textOf(detail, 'format');
  const issuer = format === '' || format.startsWith(ANTHROPIC_FORMAT) ? 'messages' : null;
  switch (textOf(detail, 'type')) {
    case 'reasoning.text':
      return signed(textOf(detail, 'text'), textOf(detail, 'signature'), issuer);
    case 'reasoning.summary':
      return unsigned(textOf(detail, 'summary'));
    case 'reasoning.encrypted':
      return redacted(textOf(detail, 'data'), issuer);
    default:
      return null;
  }
}

function parseBlocks(
  message: JsonNode,
  name: 'reasoning_details' | 'thinking_blocks',
  parse: (block: JsonNode) => ReasoningPart | null,
  { notes }: RequestReading,
): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  const list = given(message, name);
  if (list === undefined) return parts;
  if (list.kind !== 'array') notes.drop(`messages[].${name}`, 'found no list of blocks');
  for (const block of elements(list)) {
    const part = parse(block);
    if (part === null) notes.drop(`messages[].${name}`, 'holds a block of a type that is not known');
    else if (part.text !== '' || part.signature !== null) parts.push(part);
  }
  return parts;
}

function signed(text: string, signature: string, issuer: string | null): ReasoningPart {
  if (signature === '') return unsigned(text);
  return { kind: 'reasoning', text, signature, redacted: false, issuer };
}

function unsigned(text: string): ReasoningPart {
  return { kind: 'reasoning', text, signature: null, redacted: false, issuer: null };
}

function redacted(bytes: string, issuer: string | null): ReasoningPart {
  return { kind: 'reasoning', text: '', signature: bytes === '' ? null : bytes, redacted: true, issuer };
}

function textOf(node: JsonNode, name: string): string {
  const found = given(node, name);
  return found?.kind === 'string' ? readText(found, name) : '';
}

/** `prefix` asks to continue the beginning of an answer; the message's position at the end already implies that. */
const ASSISTANT_MEMBERS = [
  ...['refusal', 'tool_calls', 'function_call', 'audio', 'prefix', 'extra_content'],
  ...REASONING_MEMBERS,
];

const CALL_MEMBERS = new Set(['id', 'type', 'index', 'function', 'custom', 'extra_content', ...MARK_MEMBERS]);
const FUNCTION_MEMBERS = new Set(['name', 'arguments']);
const CUSTOM_MEMBERS = new Set(['name', 'input']);

/** Parts in generation order: reasoning, text, refusal, calls. `legacyId` becomes the id of a `function_call`. */
function parseAssistant(message: JsonNode, path: string, legacyId: string, reading: RequestReading): Part[] {
  if (given(message, 'audio') !== undefined) {
    throw refuseMember(
      `${path}.audio`,
      'names sound of an earlier answer, which only its host knows; send its transcript',
    );
  }
  const spoken = signLast(parseSpoken(message, path, reading), parseSignature(message));
  const parts: Part[] = [...parseReasoning(message, path, reading), ...spoken];
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

/** Google's signature in `extra_content`; undefined: none. */
function parseSignature(node: JsonNode): Native | undefined {
  const extra = given(node, 'extra_content');
  const signature = extra === undefined ? null : signatureIn(parseObject(jsonText(extra)));
  return signature === null ? undefined : packSignature(signature);
}

/** The signature on the message is that of its text; without one, of an empty text. */
function signLast(parts: Part[], host_data: Native | undefined): Part[] {
  if (host_data === undefined) return parts;
  const at = parts.findLastIndex(({ kind }) => kind === 'text');
  const text = parts[at];
  if (text?.kind !== 'text') return [...parts, { ...textPart(''), host_data }];
  return parts.with(at, { ...text, host_data });
}

/** Empty content is ignored: clients send it with calls because some providers refuse null. */
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
    const host_data = parseSignature(call);
    const made = {
      kind: 'tool_call',
      id,
      ...parseCalled(called, `${path}.function`),
      tool: 'function',
      cache_mark,
    } as const;
    return host_data === undefined ? made : { ...made, host_data };
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

/** The arguments stay the string that the model generated: it may be empty or invalid JSON. */
function parseCalled(called: JsonNode, path: string): { name: string; arguments: string } {
  const name = readName(given(called, 'name'), `${path}.name`, 'the name of a tool');
  const written = given(called, 'arguments');
  const text = written === undefined ? '' : readText(written, `${path}.arguments`, 'the arguments as a string of JSON');
  return { name, arguments: text };
}

const ROLES = 'one of developer, system, user, assistant, tool, function';
const COMMON = ['role', 'content', 'name', ...MARK_MEMBERS];
const ASKED = new Set(COMMON);
const SAID = new Set([...COMMON, ...ASSISTANT_MEMBERS]);
/** `name` on a tool result is allowed but redundant: the call has it. */
const ANSWERED = new Set([...COMMON, 'tool_call_id', 'is_error']);

const INSTRUCTION_TYPES: readonly GivenType[] = ['text'];
const USER_TYPES: readonly GivenType[] = ['text', 'image_url', 'input_audio', 'file'];
/** Officially text only; several providers accept more. */
const RESULT_TYPES: readonly GivenType[] = ['text', 'image_url', 'file'];

/** Legacy calls have no id: a result belongs to the first call of its name that has no result yet. */
interface LegacyCall {
  readonly id: string;
  readonly name: string;
}

export function parseTurns(root: JsonNode, reading: RequestReading): Turn[] {
  const legacy: LegacyCall[] = [];
  const messages = member(root, 'messages');
  if (messages?.kind !== 'array') throw refuse('messages', messages ?? null, 'an array of messages');
  return elements(messages).map((message, index) => parseTurn(message, index, legacy, reading));
}

function parseTurn(node: JsonNode, index: number, legacy: LegacyCall[], reading: RequestReading): Turn {
  const path = `messages.${index}`;
  const message = readObject(node, path, 'a message (an object)');
  const role = readName(given(message, 'role'), `${path}.role`, ROLES);
  switch (role) {
    case 'system':
    case 'developer':
    case 'user': {
      const types = role === 'user' ? USER_TYPES : INSTRUCTION_TYPES;
      dropUnknown(message, ASKED, 'messages[]', reading);
      return {
        role,
        name: nameOf(message, path),
        parts: markLast(message, path, parseAsked(message, path, types, reading), reading),
        path,
      };
    }
    case 'assistant': {
      dropUnknown(message, SAID, 'messages[]', reading);
      const parts = parseAssistant(message, path, `call_legacy_${index}`, reading);
      const old = given(message, 'function_call') === undefined ? undefined : parts.at(-1);
      if (old?.kind === 'tool_call') legacy.push({ id: old.id, name: old.name });
      return { role, name: nameOf(message, path), parts: markLast(message, path, parts, reading), path };
    }
    case 'tool':
    case 'function': {
      dropUnknown(message, ANSWERED, 'messages[]', reading);
      const call_id = role === 'tool' ? toolCallId(message, path) : takeLegacyId(message, path, legacy);
      return { role: 'user', name: null, parts: [parseResult(message, path, call_id, reading)], path };
    }
    default:
      throw refuse(`${path}.role`, given(message, 'role') ?? null, ROLES);
  }
}

function parseAsked(
  message: JsonNode,
  path: string,
  types: readonly GivenType[],
  reading: RequestReading,
): GivenPart[] {
  const content = given(message, 'content');
  if (content === undefined) throw refuse(`${path}.content`, null, 'a string or an array of parts');
  return parseContent(content, `${path}.content`, types, reading);
}

function parseResult(message: JsonNode, path: string, call_id: string, reading: RequestReading): ToolResultPart {
  const content = given(message, 'content');
  return {
    kind: 'tool_result',
    call_id,
    parts: content === undefined ? [] : parseContent(content, `${path}.content`, RESULT_TYPES, reading),
    is_error: readOptionalBoolean(message, 'is_error', `${path}.is_error`) ?? false,
    cache_mark: parseCacheMark(message, path, reading),
  };
}

function toolCallId(message: JsonNode, path: string): string {
  return readName(given(message, 'tool_call_id'), `${path}.tool_call_id`, 'the id of the call that this answers');
}

function takeLegacyId(message: JsonNode, path: string, legacy: LegacyCall[]): string {
  const name = readName(given(message, 'name'), `${path}.name`, 'the name of the function that this answers');
  const at = legacy.findIndex((call) => call.name === name);
  const [call] = at < 0 ? [] : legacy.splice(at, 1);
  if (call === undefined) {
    throw refuseMember(
      path,
      `answers the function ${JSON.stringify(name)}, which no message before it calls; send the function_call first`,
    );
  }
  return call.id;
}

function nameOf(message: JsonNode, path: string): string | null {
  return readOptionalText(message, 'name', `${path}.name`);
}

/** A cache mark on the message applies to its last part. */
function markLast(message: JsonNode, path: string, parts: Part[], reading: RequestReading): Part[] {
  const mark = parseCacheMark(message, path, reading);
  const last = parts.at(-1);
  return mark === null || last === undefined ? parts : [...parts.slice(0, -1), withMark(last, mark)];
}

function withMark(part: Part, cache_mark: CacheMark): Part {
  return 'cache_mark' in part ? { ...part, cache_mark: part.cache_mark ?? cache_mark } : part;
}
