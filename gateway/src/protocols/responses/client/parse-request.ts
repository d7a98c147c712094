/** Parses a checked Responses body into the canonical request. `REQUEST_MEMBERS` lists every member's fate. */
import type { GenerationRequest, ReasoningRequest } from '../../../generation/request.ts';
import { summaryRequest } from '../../../generation/summarize.ts';
import { elements, type JsonNode, type JsonOutline, numberValue, stringValue } from '../../../wire/json-node.ts';
import { createMemberJudge, SHARED_MEMBERS } from '../../openai/judge-members.ts';
import { parseEffort, parseOutputFormat, parseSchema, parseSharedMembers } from '../../openai/parse-options.ts';
import {
  dropUnknown,
  given,
  type RequestReading,
  readIntegerFeature,
  readObject,
  readOptionalText,
} from '../../openai/read-member.ts';
import type { MemberRow, TranslationNotes } from '../../request/translation-notes.ts';
import { asksForCompaction, parseTurns, updatedEffort } from './parse-input.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';

const NOT_STORED = 'nothing is stored here';

/** One row for each member of the format (specification, B.1). Any other member is dropped and reported. */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  ...SHARED_MEMBERS,
  { member: 'input', becomes: 'turns', fate: null, note: 'reasoning goes back to the provider that it came from only' },
  { member: 'instructions', becomes: 'turns', fate: null, note: 'before the input' },
  { member: 'stream_options', becomes: null, fate: 'dropped', note: 'the gateway adds no padding' },
  {
    member: 'store',
    becomes: null,
    fate: 'dropped',
    note: 'the answer is stored only with `defaults.store_responses`',
  },
  { member: 'previous_response_id', becomes: null, fate: 'refused', note: NOT_STORED },
  { member: 'conversation', becomes: null, fate: 'refused', note: NOT_STORED },
  { member: 'background', becomes: null, fate: 'refused', note: 'responses cannot run in the background here' },
  { member: 'prompt', becomes: null, fate: 'refused', note: NOT_STORED },
  { member: 'include', becomes: null, fate: 'dropped', note: 'the model behind this name has nothing of it' },
  { member: 'max_output_tokens', becomes: 'output_limit', fate: null, note: '' },
  { member: 'max_tool_calls', becomes: null, fate: 'dropped', note: 'the provider runs no tools' },
  {
    member: 'tools',
    becomes: 'tools',
    fate: null,
    note: 'a namespace becomes functions, each tool that the client runs (tool_search, shell, apply_patch) a function; web_search is dropped',
  },
  { member: 'text', becomes: 'output_format', fate: null, note: 'text.verbosity is the verbosity' },
  { member: 'reasoning', becomes: 'reasoning', fate: null, note: 'the last configuration_update precedes its effort' },
  {
    member: 'top_logprobs',
    becomes: null,
    fate: 'refused',
    note: 'the model behind this name returns no probabilities',
  },
  { member: 'truncation', becomes: null, fate: 'dropped', note: 'the provider leaves out no items' },
  { member: 'context_management', becomes: null, fate: 'dropped', note: 'the provider compacts nothing' },
  { member: 'image', becomes: null, fate: 'dropped', note: 'it is only a hint' },
  { member: 'access_programs', becomes: null, fate: 'dropped', note: 'the provider has none' },
  { member: 'client_metadata', becomes: null, fate: 'dropped', note: 'the provider does not store it' },
];

const MEMBERS = createMemberJudge(REQUEST_MEMBERS, {
  top_logprobs: (node) => numberValue(node) === 0,
  truncation: (node) => stringValue(node) === 'disabled',
  // The answer says `store: false`, whatever was requested.
  store: () => true,
  stream_options: () => true,
  include: (node) => elements(node).every((value) => stringValue(value) === 'reasoning.encrypted_content'),
});

export const firstRefusedMember = MEMBERS.firstRefused;

/** Throws CallFailure `invalid_request` that names the member. */
export function parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest {
  const root = readObject(outline.root, 'body', 'a JSON object');
  const reading: RequestReading = { notes, named: {} };
  MEMBERS.judge(root, notes);
  const parsed = parseTools(root, reading);
  const request: GenerationRequest = {
    ...parseSharedMembers(root, reading),
    turns: parseTurns(root, reading),
    tools: parsed.tools,
    ...(parsed.callForms.size > 0 && { callForms: parsed.callForms }),
    tool_choice: parseToolChoice(root, reading),
    outputTokensMax: readIntegerFeature(root, 'max_output_tokens', 'output_limit', 1, reading),
    stop: [],
    top_k: null,
    frequency_penalty: null,
    presence_penalty: null,
    seed: null,
    reasoning: parseReasoningOptions(root, reading),
    ...parseText(root, reading),
    cache_mark: null,
    web_search: null,
    logprobs: null,
    named: reading.named,
  };
  return asksForCompaction(root) ? summaryRequest(request, 'input') : request;
}

const REASONING_MEMBERS = new Set(['effort', 'summary', 'generate_summary', 'context']);

/** `summary` says how reasoning is shown, which other formats do anyway. */
function parseReasoningOptions(root: JsonNode, reading: RequestReading): ReasoningRequest | null {
  const node = given(root, 'reasoning');
  const options = node === undefined ? undefined : readObject(node, 'reasoning', 'an object');
  if (options !== undefined) dropUnknown(options, REASONING_MEMBERS, 'reasoning', reading);
  const found = updatedEffort(root) ?? (options === undefined ? undefined : given(options, 'effort'));
  if (found === undefined) return null;
  reading.named.reasoning = 'reasoning.effort';
  return parseEffort(found, 'reasoning.effort');
}

const TEXT_MEMBERS = new Set(['format', 'verbosity']);
const FORMAT_MEMBERS = new Set(['type', 'name', 'description', 'schema', 'strict']);

function parseText(root: JsonNode, reading: RequestReading): Pick<GenerationRequest, 'output_format' | 'verbosity'> {
  const node = given(root, 'text');
  if (node === undefined) return { output_format: null, verbosity: null };
  const text = readObject(node, 'text', 'an object');
  dropUnknown(text, TEXT_MEMBERS, 'text', reading);
  const verbosity = readOptionalText(text, 'verbosity', 'text.verbosity');
  if (verbosity !== null) reading.named.verbosity = 'text.verbosity';
  const output_format = parseOutputFormat(given(text, 'format'), 'text.format', FORMAT_MEMBERS, reading, (format) =>
    parseSchema(format, 'text.format'),
  );
  return { output_format, verbosity };
}
