/**
 * Owns reading one block of a turn of the history: calls and thinking here, results and all others in files of their
 * own. Source: wire reference B.3.
 */
import type { Part, ReasoningPart, ToolCallPart } from '../../generation/part.ts';
import type { Turn } from '../../generation/request.ts';
import { type JsonNode, jsonText, member, stringValue } from '../../wire/json-node.ts';
import { refuseMember, type TranslationNotes } from '../translation-notes.ts';
import { dropOthers, given, optionalText, requiredObject, requiredText } from './member-values.ts';
import { parseCacheMark } from './parse-cache-mark.ts';
import { blockType, parseContentBlock } from './parse-content-block.ts';
import { parseToolResult } from './parse-tool-result.ts';

/** A `caller` of type `direct` is the model itself and says nothing. */
const CALL_MEMBERS = new Set(['type', 'id', 'name', 'input', 'cache_control', 'caller']);

/** The part that the block at `path` is. Throws for a block that its role cannot say. */
export function parseBlock(block: JsonNode, path: string, role: Turn['role'], notes: TranslationNotes): Part {
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

/** An empty signature cannot be checked by anybody and counts as none. */
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
