/**
 * Parses the options of a request: tools and tool choice, thinking and effort, output format, stop sequences, end user,
 * service tier. Tools that Anthropic runs or has built in are kept verbatim. Source: wire reference B.2, B.4 and C.5.
 */
import type { OutputFormat, ReasoningRequest, Tool, ToolChoice } from '../../../generation/request.ts';
import { children, elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { checkInteger, refuse } from '../../request/request-facts.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
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

const THINKING_TYPES = ['enabled', 'adaptive', 'between_tools', 'disabled'] as const;
const MODES = { enabled: 'budget', adaptive: 'adaptive', between_tools: 'between_tools', disabled: 'off' } as const;
const THINKING_MEMBERS = new Set(['type', 'budget_tokens', 'display']);
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
const BUDGET_TOKENS_MIN = 1024;
const FORMAT_MEMBERS = new Set(['type', 'schema']);

/** `thinking` and `output_config.effort` as one reasoning option; null if both are absent. */
export function parseReasoning(root: JsonNode, notes: TranslationNotes): ReasoningRequest | null {
  const thinking = optionalObject(root, 'thinking', '', 'an object {"type": …}');
  const config = outputConfig(root);
  const effort = config === null ? null : optionalWord(config, 'effort', 'output_config', EFFORTS);
  if (thinking === null) return effort === null ? null : { mode: null, budgetTokens: null, effort, display: null };
  const type = optionalWord(thinking, 'type', 'thinking', THINKING_TYPES);
  if (type === null) throw refuse('thinking.type', null, THINKING_TYPES.map((one) => `"${one}"`).join(' or '));
  dropOthers(thinking, THINKING_MEMBERS, 'thinking', notes);
  return {
    mode: MODES[type],
    budgetTokens: type === 'enabled' ? parseBudget(thinking) : null,
    effort,
    display: parseDisplay(thinking, notes),
  };
}

/**
 * The display of thinking is only advisory, and agents send beta values (Claude Code 2.1.329: "updates"), so unknown
 * values are dropped.
 */
function parseDisplay(thinking: JsonNode, notes: TranslationNotes): ReasoningRequest['display'] {
  const display = optionalText(thinking, 'display', 'thinking');
  if (display === null || display === 'summarized' || display === 'omitted') return display;
  notes.drop('thinking.display', 'expected "summarized" or "omitted"; another word is for Anthropic only');
  return null;
}

function parseBudget(thinking: JsonNode): number {
  const budget = given(thinking, 'budget_tokens');
  if (budget === null) throw refuse('thinking.budget_tokens', null, `an integer of at least ${BUDGET_TOKENS_MIN}`);
  checkInteger(budget, 'thinking.budget_tokens', BUDGET_TOKENS_MIN, false);
  return Number(jsonText(budget));
}

/** `output_config.format`, or its older name `output_format`; null for plain text. Throws if both are present. */
export function parseOutputFormat(root: JsonNode, notes: TranslationNotes): OutputFormat | null {
  const config = outputConfig(root);
  const nested = config === null ? null : optionalObject(config, 'format', 'output_config', 'an object {"type": …}');
  const older = optionalObject(root, 'output_format', '', 'an object {"type": …}');
  if (nested !== null && older !== null) {
    throw refuseMember(
      'output_format',
      'it is the older name of output_config.format, and both are there; keep output_config.format',
    );
  }
  const format = nested ?? older;
  if (format === null) return null;
  const path = nested === null ? 'output_format' : 'output_config.format';
  if (optionalWord(format, 'type', path, ['json_schema']) === null) throw refuse(`${path}.type`, null, '"json_schema"');
  dropOthers(format, FORMAT_MEMBERS, path, notes);
  const schema = jsonText(requiredObject(format, 'schema', path, 'a JSON Schema (an object)'));
  return { kind: 'json_schema', name: null, description: null, schema, strict: null };
}

/** `output_config`; null if absent. */
function outputConfig(root: JsonNode): JsonNode | null {
  return optionalObject(root, 'output_config', '', 'an object');
}

/** `stop_sequences`; empty if absent. */
export function parseStop(root: JsonNode): readonly string[] {
  const stop = given(root, 'stop_sequences');
  if (stop === null) return [];
  if (stop.kind !== 'array') throw refuse('stop_sequences', stop, 'an array of strings');
  return elements(stop).map((one, index) => {
    const text = stringValue(one);
    if (text === undefined) throw refuse(`stop_sequences.${index}`, one, 'a string');
    return text;
  });
}

/** `metadata.user_id`; the rest of `metadata` is for Anthropic only. */
export function parseEndUser(root: JsonNode, notes: TranslationNotes): string | null {
  const metadata = optionalObject(root, 'metadata', '', 'an object {"user_id": …}');
  if (metadata === null) return null;
  dropOthers(metadata, new Set(['user_id']), 'metadata', notes);
  return optionalText(metadata, 'user_id', 'metadata') || null;
}

/** `service_tier` as a value of this format; an unknown value is dropped. */
export function parseServiceTier(root: JsonNode, notes: TranslationNotes): string | null {
  const tier = optionalText(root, 'service_tier', '');
  if (tier === null || tier === 'auto' || tier === 'standard_only') return tier;
  notes.drop(
    'service_tier',
    `found ${jsonText(member(root, 'service_tier') ?? root).slice(0, 60)}; expected "auto" or "standard_only"`,
  );
  return null;
}

const TOOL_MEMBERS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);
/** Options for how Anthropic handles the tool; `false` and an empty list request nothing. */
const TOOL_OPTIONS = ['eager_input_streaming', 'defer_loading', 'input_examples', 'allowed_callers'];
const KNOWN_MEMBERS = new Set([...TOOL_MEMBERS, ...TOOL_OPTIONS]);
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
  for (const name of TOOL_OPTIONS) {
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
