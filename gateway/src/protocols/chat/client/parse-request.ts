/** Parses a checked chat-completions body into the canonical request. `REQUEST_MEMBERS` lists every member's fate. */
import type { GenerationRequest, ToolChoice } from '../../../generation/request.ts';
import { elements, type JsonNode, type JsonOutline, numberValue, stringValue } from '../../../wire/json-node.ts';
import { createMemberJudge, SHARED_MEMBERS } from '../../openai/judge-members.ts';
import { parseSharedMembers } from '../../openai/parse-options.ts';
import { CHOICE_FORMS, parseAllowedTools, parseChoiceWord } from '../../openai/parse-tools.ts';
import {
  given,
  parseCacheMark,
  type RequestReading,
  readIntegerFeature,
  readName,
  readNumberFeature,
  readObject,
  readOptionalBoolean,
  readOptionalText,
  readTextFeature,
} from '../../openai/read-member.ts';
import { checkInteger, refuse } from '../../request/request-facts.ts';
import { type MemberRow, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import {
  checkStreamOptions,
  parseReasoningOptions,
  parseResponseFormat,
  parseStop,
  parseTools,
  parseWebSearch,
} from './parse-generation-options.ts';
import { parseTurns } from './parse-turns.ts';

/**
 * One row for each member of the current format (wire reference A.2), then the supported extensions. Any other member
 * is dropped and reported. `null` counts as absent everywhere.
 */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  ...SHARED_MEMBERS,
  {
    member: 'messages',
    becomes: 'turns',
    fate: null,
    note: 'audio of an earlier answer is refused; for Claude, white space at the end of a prefilled answer is removed, and named',
  },
  { member: 'audio', becomes: null, fate: 'refused', note: 'the answer cannot be audio' },
  { member: 'frequency_penalty', becomes: 'frequency_penalty', fate: null, note: '' },
  { member: 'presence_penalty', becomes: 'presence_penalty', fate: null, note: '' },
  { member: 'function_call', becomes: 'tool_choice', fate: null, note: 'read as tool_choice' },
  { member: 'functions', becomes: 'tools', fate: null, note: 'read as tools of type function' },
  {
    member: 'logit_bias',
    becomes: null,
    fate: 'refused',
    note: 'the model behind this name does not support token biases',
  },
  { member: 'logprobs', becomes: 'logprobs', fate: null, note: '' },
  { member: 'top_logprobs', becomes: 'logprobs', fate: null, note: 'only with logprobs' },
  { member: 'max_completion_tokens', becomes: 'output_limit', fate: null, note: '' },
  {
    member: 'max_tokens',
    becomes: 'output_limit',
    fate: null,
    note: 'max_completion_tokens precedes it if both are set',
  },
  { member: 'modalities', becomes: null, fate: 'refused', note: 'only text can be answered' },
  { member: 'n', becomes: null, fate: 'refused', note: 'only one answer can be requested at a time' },
  { member: 'prediction', becomes: null, fate: 'dropped', note: 'it only speeds up the answer' },
  { member: 'reasoning_effort', becomes: 'reasoning', fate: null, note: '' },
  { member: 'response_format', becomes: 'output_format', fate: null, note: '' },
  { member: 'seed', becomes: 'seed', fate: null, note: '' },
  { member: 'stop', becomes: 'stop', fate: null, note: '' },
  { member: 'store', becomes: null, fate: 'dropped', note: 'the provider does not store it' },
  { member: 'stream_options', becomes: 'stream', fate: null, note: 'the gateway handles include_usage' },
  { member: 'tools', becomes: 'tools', fate: null, note: '' },
  { member: 'verbosity', becomes: 'verbosity', fate: null, note: '' },
  { member: 'web_search_options', becomes: 'web_search', fate: null, note: '' },
  {
    member: 'reasoning',
    becomes: 'reasoning',
    fate: null,
    note: 'an extension (effort, max_tokens, enabled, exclude); reasoning_effort precedes it if they contradict each other',
  },
  {
    member: 'thinking',
    becomes: 'reasoning',
    fate: null,
    note: 'an extension (type, budget_tokens, display); reasoning_effort and reasoning precede it if they contradict it',
  },
  { member: 'top_k', becomes: 'top_k', fate: null, note: 'an extension of many providers' },
  {
    member: 'cache_control',
    becomes: 'cache_marks',
    fate: null,
    note: 'an extension; also on parts, messages and tools',
  },
];

const MEMBERS = createMemberJudge(REQUEST_MEMBERS, {
  n: (node) => numberValue(node) === 1,
  modalities: (node) => node.kind === 'array' && elements(node).every((modality) => stringValue(modality) === 'text'),
});

export const firstRefusedMember = MEMBERS.firstRefused;

const PENALTY = [-2, 2] as const;

/** Throws CallFailure `invalid_request` that names the member. */
export function parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest {
  const root = readObject(outline.root, 'body', 'a JSON object');
  const reading: RequestReading = { notes, named: {} };
  MEMBERS.judge(root, notes);
  const shared = parseSharedMembers(root, reading);
  checkStreamOptions(root, shared.stream, reading);
  return {
    ...shared,
    turns: parseTurns(root, reading),
    tools: parseTools(root, reading),
    tool_choice: parseToolChoice(root, reading),
    outputTokensMax: parseOutputLimit(root, reading),
    stop: parseStop(root, reading),
    top_k: readIntegerFeature(root, 'top_k', 'top_k', -1, reading),
    frequency_penalty: readNumberFeature(root, 'frequency_penalty', PENALTY, reading),
    presence_penalty: readNumberFeature(root, 'presence_penalty', PENALTY, reading),
    seed: readIntegerFeature(root, 'seed', 'seed', Number.MIN_SAFE_INTEGER, reading),
    reasoning: parseReasoningOptions(root, reading),
    output_format: parseResponseFormat(root, reading),
    verbosity: readTextFeature(root, 'verbosity', 'verbosity', reading),
    cache_mark: parseCacheMark(root, '', reading),
    web_search: parseWebSearch(root, reading),
    logprobs: parseLogprobs(root, reading),
    named: reading.named,
  };
}

const TOP_LOGPROBS_MAX = 20;

/** OpenAI refuses `top_logprobs` without `logprobs`. */
function parseLogprobs(root: JsonNode, reading: RequestReading): GenerationRequest['logprobs'] {
  const isWanted = readOptionalBoolean(root, 'logprobs', 'logprobs') === true;
  const node = given(root, 'top_logprobs');
  if (node !== undefined) checkInteger(node, 'top_logprobs', 0, false, TOP_LOGPROBS_MAX);
  const top = node === undefined ? 0 : (numberValue(node) ?? 0);
  if (!isWanted && top > 0) {
    throw refuseMember('top_logprobs', 'is only taken where logprobs is true; set logprobs to true or leave it out');
  }
  if (!isWanted) return null;
  reading.named.logprobs = 'logprobs';
  return { top };
}

/** The newer member wins (wire reference C.8, 42); the older is reported as dropped if its value differs. */
function parseOutputLimit(root: JsonNode, reading: RequestReading): number | null {
  const older = readIntegerFeature(root, 'max_tokens', 'output_limit', 1, reading);
  const newer = readIntegerFeature(root, 'max_completion_tokens', 'output_limit', 1, reading);
  if (newer !== null && older !== null && newer !== older) {
    reading.notes.drop('max_tokens', 'max_completion_tokens is set beside it and wins');
  }
  return newer ?? older;
}

/** Null: absent. Throws CallFailure for an unknown form. */
function parseToolChoice(root: JsonNode, reading: RequestReading): ToolChoice | null {
  for (const name of ['tool_choice', 'function_call'] as const) {
    const choice = given(root, name);
    if (choice === undefined) continue;
    reading.named.tool_choice = name;
    if (choice.kind === 'string') return parseWord(choice, name);
    if (name === 'tool_choice') return parseForm(readObject(choice, name, CHOICE_FORMS));
    return { kind: 'tool', name: toolName(readObject(choice, name, CHOICE_FORMS), name) };
  }
  return null;
}

/** Mistral's client sends `any` for `required`. */
function parseWord(choice: JsonNode, path: string): ToolChoice {
  return stringValue(choice) === 'any' ? { kind: 'required' } : parseChoiceWord(choice, path);
}

function parseForm(choice: JsonNode): ToolChoice {
  const type = readOptionalText(choice, 'type', 'tool_choice.type');
  if (type !== 'allowed_tools') return { kind: 'tool', name: parseNamed(choice, 'tool_choice') };
  const path = 'tool_choice.allowed_tools';
  const allowed = readObject(given(choice, 'allowed_tools'), path, 'an object with mode and tools');
  return parseAllowedTools(allowed, path, parseNamed);
}

/** `{type: 'function', function: {name}}` or the same with `custom`. */
function parseNamed(tool: JsonNode, path: string): string {
  const type = readOptionalText(readObject(tool, path, CHOICE_FORMS), 'type', `${path}.type`) ?? 'function';
  if (type !== 'function' && type !== 'custom') {
    throw refuse(`${path}.type`, given(tool, 'type') ?? null, 'function, custom or allowed_tools');
  }
  return toolName(readObject(given(tool, type), `${path}.${type}`, 'an object with a name'), `${path}.${type}`);
}

function toolName(holder: JsonNode, path: string): string {
  return readName(given(holder, 'name'), `${path}.name`, 'the name of a tool');
}
