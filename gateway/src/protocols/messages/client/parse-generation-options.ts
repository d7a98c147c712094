/**
 * Parses the generation options of a request: thinking and effort, output format, stop sequences, end user, service
 * tier. Source: wire reference B.2 and C.5.
 */
import type { OutputFormat, ReasoningRequest } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { checkInteger, refuse } from '../../request/check-member.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import { dropOthers, given, optionalObject, optionalText, optionalWord, requiredObject } from './member-values.ts';

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
