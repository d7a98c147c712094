/**
 * Owns reading a checked messages request into the canonical language: which member is read, dropped or refused, by the
 * table.
 */
import type { GenerationRequest } from '../../generation/request.ts';
import { children, type JsonNode, type JsonOutline, memberName, stringValue } from '../../wire/json-node.ts';
import { memberPath } from '../../wire/json-problem.ts';
import type { MemberRow } from '../fates.ts';
import { refuseMember, type TranslationNotes } from '../translation-notes.ts';
import { given, optionalFlag, optionalNumber, requiredText } from './member-values.ts';
import { parseCacheMark } from './parse-cache-mark.ts';
import { parseEndUser, parseOutputFormat, parseReasoning, parseServiceTier, parseStop } from './parse-settings.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';
import { parseTurns } from './parse-turns.ts';
import { REQUEST_MEMBERS } from './request-members.ts';

const ROWS: ReadonlyMap<string, MemberRow> = new Map(REQUEST_MEMBERS.map((row) => [row.member, row]));
/** Members that have rows only for their own members. */
const PARENTS: ReadonlySet<string> = new Set(
  REQUEST_MEMBERS.flatMap(({ member }) => (member.includes('.') ? [member.slice(0, member.indexOf('.'))] : [])),
);
const INTEGER_MAX = Number.MAX_SAFE_INTEGER;

/**
 * The request in no format's words. Throws CallFailure `invalid_request` for a member of the wrong type and for one that
 * cannot leave Anthropic; the outline must reach `TRANSLATION_OUTLINE_DEPTH`.
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
  };
  return { ...request, named: nameFeatures(root, request) };
}

/** Drops or refuses what the table says has no counterpart, and what it does not know. */
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

/** Members whose presence names a feature; of several that name the same one the first is shown. */
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
