/**
 * Parses the reasoning options: `reasoning_effort`, OpenRouter's `reasoning`, and `thinking` as Anthropic, DeepSeek and
 * others accept it in a chat body. parse-assistant.ts parses earlier reasoning in the history.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens and https://docs.claude.com/en/api/openai-sdk, read 2026-11-22.
 */
import { EFFORT_ORDER, type ReasoningEffort, type ReasoningRequest } from '../../../generation/request.ts';
import { type JsonNode, numberValue } from '../../../wire/json-node.ts';
import { checkInteger, refuse } from '../../request/check-member.ts';
import { dropUnknown, given, type RequestReading, readOptionalBoolean, readOptionalText } from './read-member.ts';

const REASONING_MEMBERS = new Set(['effort', 'max_tokens', 'enabled', 'exclude']);
const THINKING_MEMBERS = new Set(['type', 'budget_tokens', 'display']);
const THINKING_TYPES = 'one of enabled, disabled, adaptive, auto, between_tools';

/** Reasoning is requested, in any amount. */
const ON: ReasoningRequest = { mode: null, budgetTokens: null, effort: null, display: null };
const OFF: ReasoningRequest = { ...ON, mode: 'off' };
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
  const word = readOptionalText(root, 'reasoning_effort', 'reasoning_effort');
  return word === null ? null : parseEffort(word, root, 'reasoning_effort');
}

/** Null: `default`, Groq's word for leaving the effort to the model (recorded in 2025). */
function parseEffort(word: string, holder: JsonNode, path: string): ReasoningRequest | null {
  if (word === 'default') return null;
  if (word === 'none') return OFF;
  const effort = EFFORT_ORDER.find((known) => known === word);
  if (effort !== undefined) return { ...ON, effort };
  const member = path.slice(path.indexOf('.') + 1);
  throw refuse(path, given(holder, member) ?? null, `one of none, ${EFFORT_ORDER.join(', ')}`);
}

function parseReasoningMember(root: JsonNode, reading: RequestReading): ReasoningRequest | null {
  const options = readOptions(root, 'reasoning', REASONING_MEMBERS, reading);
  if (options === null) return null;
  const word = readOptionalText(options, 'effort', 'reasoning.effort');
  const byEffort = word === null ? null : parseEffort(word, options, 'reasoning.effort');
  const budgetTokens = readBudget(options, 'max_tokens', 'reasoning.max_tokens');
  const enabled = readOptionalBoolean(options, 'enabled', 'reasoning.enabled');
  const hides = readOptionalBoolean(options, 'exclude', 'reasoning.exclude') === true;
  if (byEffort === OFF || (enabled === false && byEffort === null && budgetTokens === null)) return OFF;
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
      return { ...ON, mode: budgetTokens === null ? null : 'budget', budgetTokens, display };
    case 'disabled':
      return OFF;
    case 'adaptive':
    case 'auto':
      return { ...ON, mode: 'adaptive', display };
    case 'between_tools':
      return { ...ON, mode: 'between_tools', display };
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
