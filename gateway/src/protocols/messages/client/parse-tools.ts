/**
 * Parses the tools and the tool choice. Tools that Anthropic runs or has built in are kept verbatim. Source: wire
 * reference B.4.
 */
import type { Tool, ToolChoice } from '../../../generation/request.ts';
import { children, elements, type JsonNode, jsonText } from '../../../wire/json-node.ts';
import { refuse } from '../../request/check-member.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import {
  dropOthers,
  given,
  optionalFlag,
  optionalObject,
  optionalText,
  optionalWord,
  parseCacheMark,
  requiredObject,
  requiredText,
} from './member-values.ts';

const TOOL_MEMBERS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);
/** Options for how Anthropic handles the tool; `false` and an empty list request nothing. */
const WISHES = ['eager_input_streaming', 'defer_loading', 'input_examples', 'allowed_callers'];
const KNOWN_MEMBERS = new Set([...TOOL_MEMBERS, ...WISHES]);
const CHOICE_MEMBERS = new Set(['type', 'name', 'disable_parallel_tool_use']);

/** `tools`; empty if absent. */
export function parseTools(root: JsonNode, notes: TranslationNotes): readonly Tool[] {
  const tools = given(root, 'tools');
  if (tools === null) return [];
  if (tools.kind !== 'array') throw refuse('tools', tools, 'an array of tools');
  return elements(tools).map((tool, index) => parseTool(tool, `tools.${index}`, notes));
}

function parseTool(tool: JsonNode, path: string, notes: TranslationNotes): Tool {
  if (tool.kind !== 'object') throw refuse(path, tool, 'a tool definition (an object)');
  const type = optionalText(tool, 'type', path);
  if (type !== null && type !== 'custom') {
    const native = { origin: 'messages', json: jsonText(tool) };
    return { kind: 'opaque', type, name: optionalText(tool, 'name', path), native };
  }
  dropOthers(tool, KNOWN_MEMBERS, path, notes);
  for (const name of WISHES) {
    const option = given(tool, name);
    if (option !== null && option.kind !== 'false' && (option.kind !== 'array' || children(option).length > 0)) {
      notes.drop(`${path}.${name}`, 'only Anthropic treats a tool so');
    }
  }
  return {
    kind: 'function',
    name: requiredText(tool, 'name', path),
    description: optionalText(tool, 'description', path),
    parameters: jsonText(requiredObject(tool, 'input_schema', path, 'a JSON Schema of type object')),
    strict: given(tool, 'strict') === null ? null : optionalFlag(tool, 'strict', path),
    cache_mark: parseCacheMark(tool, path, notes),
  };
}

/** `tool_choice`, and whether only one call at a time is allowed. */
export function parseToolChoice(
  root: JsonNode,
  notes: TranslationNotes,
): { readonly choice: ToolChoice | null; readonly parallel_tool_calls: boolean | null } {
  const node = optionalObject(root, 'tool_choice', '', 'an object {"type": "auto", "any", "tool" or "none"}');
  if (node === null) return { choice: null, parallel_tool_calls: null };
  dropOthers(node, CHOICE_MEMBERS, 'tool_choice', notes);
  const type = optionalWord(node, 'type', 'tool_choice', ['auto', 'any', 'tool', 'none']);
  if (type === null) throw refuse('tool_choice.type', null, '"auto", "any", "tool" or "none"');
  const single = optionalFlag(node, 'disable_parallel_tool_use', 'tool_choice');
  return { choice: choiceOf(type, node), parallel_tool_calls: single ? false : null };
}

function choiceOf(type: 'auto' | 'any' | 'tool' | 'none', node: JsonNode): ToolChoice {
  if (type === 'tool') return { kind: 'tool', name: requiredText(node, 'name', 'tool_choice') };
  return { kind: type === 'any' ? 'required' : type };
}
