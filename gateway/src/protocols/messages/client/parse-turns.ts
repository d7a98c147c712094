/**
 * Parses `system` and `messages` into turns, without joining or reordering them. Source: wire reference B.2 and C.2.
 */
import {
  type Part,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
  textPart,
} from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { refuse } from '../../request/request-facts.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import {
  dropOthers,
  given,
  optionalFlag,
  optionalText,
  optionalWord,
  parseCacheMark,
  requiredObject,
  requiredText,
} from './member-values.ts';
import { blockType, parseContentBlock, parseText } from './parse-content-block.ts';

const ROLES = ['user', 'assistant', 'system'] as const;
const KNOWN = new Set(['role', 'content']);

/** `system`, if present, as the first turn, then the messages. */
export function parseTurns(root: JsonNode, notes: TranslationNotes): readonly Turn[] {
  const messages = member(root, 'messages');
  if (messages?.kind !== 'array') throw refuse('messages', messages ?? null, 'an array of messages');
  return [...parseSystem(root, notes), ...elements(messages).map((message, index) => parseTurn(message, index, notes))];
}

function parseSystem(root: JsonNode, notes: TranslationNotes): Turn[] {
  const system = given(root, 'system');
  if (system === null) return [];
  const whole = stringValue(system);
  if (whole === undefined && system.kind !== 'array')
    throw refuse('system', system, 'a string or an array of text blocks');
  const parts = whole === undefined ? parseSystemBlocks(system, notes) : whole === '' ? [] : [textPart(whole)];
  return parts.length === 0 ? [] : [{ role: 'system', name: null, parts, path: 'system' }];
}

function parseSystemBlocks(system: JsonNode, notes: TranslationNotes) {
  return elements(system).map((block, index) => {
    const path = `system.${index}`;
    if (blockType(block, path) !== 'text') throw refuse(`${path}.type`, member(block, 'type') ?? null, '"text"');
    return parseText(block, path, notes);
  });
}

function parseTurn(message: JsonNode, index: number, notes: TranslationNotes): Turn {
  const path = `messages.${index}`;
  if (message.kind !== 'object') throw refuse(path, message, 'a message (an object)');
  const role = optionalWord(message, 'role', path, ROLES);
  if (role === null) throw refuse(`${path}.role`, null, '"user" or "assistant"');
  dropOthers(message, KNOWN, 'messages', notes);
  const content = given(message, 'content');
  const whole = content === null ? undefined : stringValue(content);
  if (whole !== undefined) return { role, name: null, parts: [textPart(whole)], path };
  if (content?.kind !== 'array') throw refuse(`${path}.content`, content, 'a string or an array of content blocks');
  const parts = elements(content).map((block, at) => parseBlock(block, `${path}.content.${at}`, role, notes));
  return { role, name: null, parts, path };
}

/** A `caller` of type `direct` is the model itself and needs no note. */
const CALL_MEMBERS = new Set(['type', 'id', 'name', 'input', 'cache_control', 'caller']);

/** The part for the block at `path`. Throws for a block that its role may not contain. */
function parseBlock(block: JsonNode, path: string, role: Turn['role'], notes: TranslationNotes): Part {
  const type = blockType(block, path);
  switch (type) {
    case 'tool_use':
      requireRole(role, 'assistant', type, path);
      return parseToolUse(block, path, notes);
    case 'thinking':
    case 'redacted_thinking':
      requireRole(role, 'assistant', type, path);
      return parseThinking(block, path, type);
    case 'tool_result':
      requireRole(role, 'user', type, path);
      return parseToolResult(block, path, notes);
    default:
      return parseContentBlock(block, path, type, notes);
  }
}

function parseToolUse(block: JsonNode, path: string, notes: TranslationNotes): ToolCallPart {
  dropOthers(block, CALL_MEMBERS, 'tool_use', notes);
  const caller = given(block, 'caller');
  if (caller !== null && callerType(caller) !== 'direct') {
    notes.drop('tool_use.caller', 'only Anthropic runs code that calls tools');
  }
  return {
    kind: 'tool_call',
    id: requiredText(block, 'id', path),
    name: requiredText(block, 'name', path),
    tool: 'function',
    arguments: jsonText(requiredObject(block, 'input', path, 'an object')),
    cache_mark: parseCacheMark(block, path, notes),
  };
}

function callerType(caller: JsonNode): string | undefined {
  const type = member(caller, 'type');
  return type === undefined ? undefined : stringValue(type);
}

/** An empty signature cannot be verified and counts as none. */
function parseThinking(block: JsonNode, path: string, type: 'thinking' | 'redacted_thinking'): ReasoningPart {
  const redacted = type === 'redacted_thinking';
  const signature = redacted ? requiredText(block, 'data', path) : optionalText(block, 'signature', path);
  return {
    kind: 'reasoning',
    text: redacted ? '' : requiredText(block, 'thinking', path),
    signature: signature === '' ? null : signature,
    redacted,
    issuer: 'messages',
  };
}

function requireRole(found: Turn['role'], expected: Turn['role'], type: string, path: string): void {
  if (found === expected) return;
  const why = `found "${type}" in a turn of the role ${found}; move it into one of the role ${expected}`;
  throw refuseMember(`${path}.type`, why);
}

const KNOWN_RESULT_MEMBERS = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);

/** A `tool_result` block at `path`. Without content it has no parts. */
function parseToolResult(block: JsonNode, path: string, notes: TranslationNotes): ToolResultPart {
  dropOthers(block, KNOWN_RESULT_MEMBERS, 'tool_result', notes);
  return {
    kind: 'tool_result',
    call_id: requiredText(block, 'tool_use_id', path),
    parts: parseContent(block, `${path}.content`, notes),
    is_error: optionalFlag(block, 'is_error', path),
    cache_mark: parseCacheMark(block, path, notes),
  };
}

function parseContent(block: JsonNode, path: string, notes: TranslationNotes): ToolResultPart['parts'] {
  const content = given(block, 'content');
  if (content === null) return [];
  const whole = stringValue(content);
  if (whole !== undefined) return [textPart(whole)];
  if (content.kind !== 'array') throw refuse(path, content, 'a string or an array of content blocks');
  return elements(content).map((one, index) => {
    const at = `${path}.${index}`;
    return parseContentBlock(one, at, blockType(one, at), notes);
  });
}
