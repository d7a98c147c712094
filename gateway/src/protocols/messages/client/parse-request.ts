/**
 * Parses a checked messages request into a canonical request: a table says which members are read, dropped or refused.
 */
import type { GenerationRequest } from '../../../generation/request.ts';
import { children, type JsonNode, type JsonOutline, memberName, stringValue } from '../../../wire/json-node.ts';
import { memberPath } from '../../../wire/json-problem.ts';
import { type MemberRow, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import { given, optionalFlag, optionalNumber, parseCacheMark, requiredText } from './member-values.ts';
import {
  parseEndUser,
  parseOutputFormat,
  parseReasoning,
  parseServiceTier,
  parseStop,
  parseToolChoice,
  parseTools,
} from './parse-generation-options.ts';
import { parseTurns } from './parse-turns.ts';

const REFUSED_BECAUSE =
  'and this model is reached in another format. Leave it out, or choose a model that Anthropic serves';

function becomes(member: string, feature: Exclude<MemberRow['becomes'], null>, note: string): MemberRow {
  return { member, becomes: feature, fate: null, note };
}

function dropped(member: string, note: string): MemberRow {
  return { member, becomes: null, fate: 'dropped', note };
}

function refused(member: string, need: string): MemberRow {
  return { member, becomes: null, fate: 'refused', note: `${need}, ${REFUSED_BECAUSE}` };
}

/**
 * One row per member. An unknown member is dropped and reported, never refused (contract, 4); an empty list or object
 * requests nothing.
 */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  becomes('model', 'model', ''),
  becomes('messages', 'turns', 'blocks that only Anthropic knows become text'),
  becomes(
    'system',
    'turns',
    'one message, its blocks joined by empty lines; separate parts if one is marked for the cache and the provider supports marks',
  ),
  becomes('stream', 'stream', ''),
  becomes('max_tokens', 'output_limit', ''),
  becomes('temperature', 'temperature', ''),
  becomes('top_p', 'top_p', ''),
  becomes('top_k', 'top_k', ''),
  becomes('stop_sequences', 'stop', ''),
  becomes('tools', 'tools', 'server tools and typed tools go to Anthropic only'),
  becomes('tool_choice', 'tool_choice', ''),
  becomes('tool_choice.disable_parallel_tool_use', 'parallel_tool_calls', 'true means at most one call'),
  becomes('thinking', 'reasoning', ''),
  becomes('output_config.effort', 'reasoning', ''),
  becomes('output_config.format', 'output_format', 'refused together with output_format'),
  becomes('output_format', 'output_format', 'the older name of output_config.format; refused together with it'),
  becomes('cache_control', 'cache_marks', 'on the request, on blocks and on tools'),
  becomes('metadata.user_id', 'end_user', ''),
  becomes('service_tier', 'service_tier', ''),
  dropped('output_config.task_budget', 'only Anthropic has task budgets'),
  dropped('speed', 'only Anthropic has it; `standard` has no effect'),
  dropped('betas', 'only Anthropic has betas'),
  dropped('context_management', 'only Anthropic edits the context of a request'),
  dropped('diagnostics', 'only Anthropic explains cache misses'),
  dropped('inference_geo', 'only Anthropic supports it'),
  dropped('user_profile_id', 'only Anthropic supports it'),
  dropped('tags', 'only Anthropic supports them'),
  refused('container', "runs code in Anthropic's own container"),
  refused('mcp_servers', "has Anthropic's host call MCP servers"),
  refused('compaction', "has Anthropic's host shorten the conversation"),
  refused('thread', 'continues a conversation that Anthropic keeps'),
  refused('fallbacks', 'lets Anthropic answer with other models'),
  refused('fallback_credit_token', 'is a credit for an answer of Anthropic'),
  refused('billing_policy', 'steers what Anthropic bills'),
  refused('safeguards', 'safeguards are checks that Anthropic runs'),
];

const ROWS: ReadonlyMap<string, MemberRow> = new Map(REQUEST_MEMBERS.map((row) => [row.member, row]));
/** Members whose rows cover only their own members. */
const PARENTS: ReadonlySet<string> = new Set(
  REQUEST_MEMBERS.flatMap(({ member }) => (member.includes('.') ? [member.slice(0, member.indexOf('.'))] : [])),
);
const INTEGER_MAX = Number.MAX_SAFE_INTEGER;

/**
 * The canonical request. Throws CallFailure `invalid_request` for a member of the wrong type and for one that only
 * Anthropic can handle.
 */
export function parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest {
  const { root } = outline;
  settleMembers(root, '', notes);
  const { choice, parallel_tool_calls } = parseToolChoice(root, notes);
  const request = {
    model: requiredText(root, 'model', ''),
    stream: optionalFlag(root, 'stream', ''),
    turns: parseTurns(root, notes),
    tools: parseTools(root, notes),
    tool_choice: choice,
    parallel_tool_calls,
    outputTokensMax: optionalNumber(root, 'max_tokens', 0, INTEGER_MAX, true),
    stop: parseStop(root),
    temperature: optionalNumber(root, 'temperature', 0, 1),
    top_p: optionalNumber(root, 'top_p', 0, 1),
    top_k: optionalNumber(root, 'top_k', 0, INTEGER_MAX, true),
    frequency_penalty: null,
    presence_penalty: null,
    seed: null,
    reasoning: parseReasoning(root, notes),
    output_format: parseOutputFormat(root, notes),
    verbosity: null,
    end_user: parseEndUser(root, notes),
    service_tier: parseServiceTier(root, notes),
    cache_mark: parseCacheMark(root, '', notes),
    web_search: null,
    logprobs: null,
  };
  return { ...request, named: nameFeatures(root, request) };
}

/** Drops or refuses members according to the table, and drops unknown ones. */
function settleMembers(node: JsonNode, prefix: string, notes: TranslationNotes): void {
  for (const value of children(node)) {
    if (asksNothing(value)) continue;
    const name = memberName(value);
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const row = ROWS.get(path);
    if (row?.fate === 'refused') throw refuseMember(path, row.note);
    if (row?.fate === 'dropped') {
      if (name !== 'speed' || stringValue(value) !== 'standard') notes.drop(path, row.note);
    } else if (path === 'output_config' && value.kind === 'object') settleMembers(value, path, notes);
    else if (row === undefined && !PARENTS.has(path)) {
      notes.drop(
        memberPath(prefix, name),
        'it is no member that this gateway knows, and the request goes to another format',
      );
    }
  }
}

function asksNothing(value: JsonNode): boolean {
  return value.kind === 'null' || ((value.kind === 'array' || value.kind === 'object') && children(value).length === 0);
}

/** Members whose presence names a feature; if several name the same one, the first is reported. */
const NAMES = REQUEST_MEMBERS.flatMap(({ member, becomes }) => {
  if (becomes === null || becomes === 'turns' || becomes === 'model' || becomes === 'stream') return [];
  return [{ path: member.split('.'), member, feature: becomes }];
});

type Unnamed = Omit<GenerationRequest, 'named'>;

function nameFeatures(root: JsonNode, request: Unnamed): GenerationRequest['named'] {
  const named: { -readonly [feature in keyof GenerationRequest['named']]: string } = {};
  for (const { path, member, feature } of NAMES) {
    if (named[feature] === undefined && reaches(root, path)) named[feature] = member;
  }
  if (named.cache_marks === undefined && hasMarks(request)) named.cache_marks = 'cache_control';
  return named;
}

function reaches(root: JsonNode, path: readonly string[]): boolean {
  let node: JsonNode | null = root;
  for (const name of path) node = node === null ? null : given(node, name);
  return node !== null;
}

function hasMarks({ turns, tools }: Unnamed): boolean {
  return (
    tools.some((tool) => tool.kind === 'function' && tool.cache_mark !== null) ||
    turns.some(({ parts }) => parts.some((part) => 'cache_mark' in part && part.cache_mark !== null))
  );
}
