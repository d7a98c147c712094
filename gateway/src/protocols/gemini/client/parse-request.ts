/** Parses a checked Gemini body into the canonical request. `REQUEST_MEMBERS` lists every member's fate. */
import type { Feature, GenerationRequest, OutputFormat, ReasoningRequest } from '../../../generation/request.ts';
import {
  children,
  type JsonNode,
  type JsonOutline,
  jsonText,
  numberValue,
  stringValue,
} from '../../../wire/json-node.ts';
import { isVoid, type RequestReading, readObject, UNKNOWN } from '../../openai/read-member.ts';
import { type AskedModel, checkInteger, checkNumber, refuse } from '../../request/request-facts.ts';
import { type MemberRow, refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import { requestIn } from './check-request.ts';
import { toJsonSchema } from './json-schema.ts';
import { dropUnknown, given, listOf, nameOf, readOptionalText } from './members.ts';
import { parseTurns } from './parse-contents.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';

const CONFIG = 'generationConfig';
const ROUTED = 'the operator routes the model';

/** One row for each member of the format. Any other member is dropped and reported. */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  { member: 'model', becomes: 'model', fate: null, note: 'that of the path counts, as the operator routes it' },
  {
    member: 'contents',
    becomes: 'turns',
    fate: null,
    note: 'thoughts go back to the provider that they came from only',
  },
  { member: 'systemInstruction', becomes: 'turns', fate: null, note: 'before the contents' },
  {
    member: 'tools',
    becomes: 'tools',
    fate: null,
    note: 'function declarations; tools that Google runs (googleSearch, codeExecution, urlContext, …) are refused',
  },
  { member: 'toolConfig', becomes: 'tool_choice', fate: null, note: 'VALIDATED as AUTO' },
  { member: 'safetySettings', becomes: null, fate: 'dropped', note: 'the model behind this name has no such settings' },
  { member: 'cachedContent', becomes: null, fate: 'refused', note: 'nothing is stored here' },
  { member: 'serviceTier', becomes: 'service_tier', fate: null, note: '' },
  { member: 'labels', becomes: null, fate: 'dropped', note: 'the provider does not store them' },
  { member: 'store', becomes: null, fate: 'dropped', note: 'the provider does not store it' },
  { member: 'modelArmorConfig', becomes: null, fate: 'refused', note: 'its templates are stored with Google' },
  { member: `${CONFIG}.temperature`, becomes: 'temperature', fate: null, note: '' },
  { member: `${CONFIG}.topP`, becomes: 'top_p', fate: null, note: '' },
  { member: `${CONFIG}.topK`, becomes: 'top_k', fate: null, note: '' },
  { member: `${CONFIG}.maxOutputTokens`, becomes: 'output_limit', fate: null, note: '' },
  { member: `${CONFIG}.stopSequences`, becomes: 'stop', fate: null, note: '' },
  { member: `${CONFIG}.seed`, becomes: 'seed', fate: null, note: '' },
  { member: `${CONFIG}.presencePenalty`, becomes: 'presence_penalty', fate: null, note: '' },
  { member: `${CONFIG}.frequencyPenalty`, becomes: 'frequency_penalty', fate: null, note: '' },
  {
    member: `${CONFIG}.candidateCount`,
    becomes: null,
    fate: 'refused',
    note: 'the model behind this name gives one answer',
  },
  {
    member: `${CONFIG}.thinkingConfig`,
    becomes: 'reasoning',
    fate: null,
    note: 'thoughts are only shown with includeThoughts',
  },
  {
    member: `${CONFIG}.responseMimeType`,
    becomes: 'output_format',
    fate: null,
    note: 'application/json; text/x.enum is refused',
  },
  { member: `${CONFIG}.responseSchema`, becomes: 'output_format', fate: null, note: 'as JSON Schema' },
  { member: `${CONFIG}.responseJsonSchema`, becomes: 'output_format', fate: null, note: 'precedes responseSchema' },
  { member: `${CONFIG}._responseJsonSchema`, becomes: 'output_format', fate: null, note: 'the same' },
  {
    member: `${CONFIG}.responseFormat`,
    becomes: null,
    fate: 'refused',
    note: 'give responseMimeType and responseJsonSchema',
  },
  { member: `${CONFIG}.responseLogprobs`, becomes: 'logprobs', fate: null, note: '' },
  { member: `${CONFIG}.logprobs`, becomes: 'logprobs', fate: null, note: 'with responseLogprobs' },
  {
    member: `${CONFIG}.responseModalities`,
    becomes: null,
    fate: 'refused',
    note: 'the model behind this name answers in text',
  },
  { member: `${CONFIG}.speechConfig`, becomes: null, fate: 'dropped', note: 'the answer is text' },
  { member: `${CONFIG}.imageConfig`, becomes: null, fate: 'dropped', note: 'the answer is text' },
  { member: `${CONFIG}.mediaResolution`, becomes: null, fate: 'dropped', note: 'media are sent as they are' },
  { member: `${CONFIG}.audioTimestamp`, becomes: null, fate: 'dropped', note: 'media are sent as they are' },
  { member: `${CONFIG}.routingConfig`, becomes: null, fate: 'dropped', note: ROUTED },
  { member: `${CONFIG}.modelSelectionConfig`, becomes: null, fate: 'dropped', note: ROUTED },
  {
    member: `${CONFIG}.enableEnhancedCivicAnswers`,
    becomes: null,
    fate: 'dropped',
    note: 'the model behind this name has no such mode',
  },
];

const ROWS: ReadonlyMap<string, MemberRow> = new Map(REQUEST_MEMBERS.map((row) => [row.member, row]));

/** Values that request the behavior that applies anyway. */
const HARMLESS = new Map<string, (node: JsonNode) => boolean>([
  [`${CONFIG}.candidateCount`, (node) => numberValue(node) === 1],
  [`${CONFIG}.responseModalities`, (node) => listOf(node).every((word) => stringValue(word)?.toUpperCase() === 'TEXT')],
]);

/** Throws CallFailure `invalid_request` that names the member. */
export function parseRequest(outline: JsonOutline, notes: TranslationNotes, asked: AskedModel): GenerationRequest {
  const root = requestIn(readObject(outline.root, 'body', 'a JSON object'), true);
  const reading: RequestReading = { notes, named: {} };
  judgeMembers(root, '', notes);
  const config = given(root, CONFIG);
  if (config !== undefined) judgeMembers(readObject(config, CONFIG), `${CONFIG}.`, notes);
  const thinking = config === undefined ? undefined : given(config, 'thinkingConfig');
  return {
    model: asked.model,
    stream: asked.stream,
    turns: parseTurns(root, reading),
    tools: parseTools(root, reading),
    tool_choice: parseToolChoice(root, reading),
    parallel_tool_calls: null,
    ...parseOptions(config, reading),
    reasoning: parseThinking(thinking, reading),
    ...(!showsThoughts(thinking) && { hidesReasoning: true }),
    verbosity: null,
    end_user: null,
    service_tier: parseTier(root, reading),
    cache_mark: null,
    web_search: null,
    named: reading.named,
  };
}

/** Checks every member of one level. Throws CallFailure for a refused one. */
function judgeMembers(holder: JsonNode, place: string, notes: TranslationNotes): void {
  for (const node of children(holder)) {
    const member = `${place}${nameOf(node)}`;
    const row = ROWS.get(member);
    if (row === undefined && member === CONFIG) continue;
    if (row === undefined) {
      if (!isVoid(node)) notes.drop(member, UNKNOWN);
    } else if (row.becomes === null && !asksForNothing(member, node)) {
      if (row.fate === 'refused') throw refuseMember(member, `${row.note}; leave it out`);
      notes.drop(member, row.note);
    }
  }
}

function asksForNothing(member: string, node: JsonNode): boolean {
  return isVoid(node) || (HARMLESS.get(member)?.(node) ?? false);
}

/** The first member that no other format can carry; null: none. */
export function firstRefusedMember(root: JsonNode): string | null {
  const config = given(root, CONFIG);
  const levels = [[root, ''], ...(config === undefined ? [] : [[config, `${CONFIG}.`] as const])] as const;
  for (const [holder, place] of levels) {
    for (const node of children(holder)) {
      const member = `${place}${nameOf(node)}`;
      if (ROWS.get(member)?.fate === 'refused' && !asksForNothing(member, node)) return member;
    }
  }
  return null;
}

type Options = Pick<
  GenerationRequest,
  | 'outputTokensMax'
  | 'stop'
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'seed'
  | 'output_format'
  | 'logprobs'
>;

function parseOptions(config: JsonNode | undefined, { named }: RequestReading): Options {
  const find = (member: string, feature: Feature): JsonNode | undefined => {
    const node = config === undefined ? undefined : given(config, member);
    if (node !== undefined) named[feature] = `${CONFIG}.${member}`;
    return node;
  };
  const number = (member: string, feature: Feature, range: readonly [number, number]): number | null => {
    const node = find(member, feature);
    if (node === undefined) return null;
    checkNumber(node, `${CONFIG}.${member}`, ...range);
    return numberValue(node) ?? null;
  };
  const integer = (member: string, feature: Feature, least: number): number | null => {
    const node = find(member, feature);
    if (node === undefined) return null;
    checkInteger(node, `${CONFIG}.${member}`, least, true);
    return numberValue(node) ?? null;
  };
  const stop = find('stopSequences', 'stop');
  return {
    outputTokensMax: integer('maxOutputTokens', 'output_limit', 1),
    stop: stop === undefined ? [] : listOf(stop).map((one) => stringValue(one) ?? jsonText(one)),
    temperature: number('temperature', 'temperature', [0, 2]),
    top_p: number('topP', 'top_p', [0, 1]),
    top_k: number('topK', 'top_k', [0, Number.MAX_SAFE_INTEGER]),
    frequency_penalty: number('frequencyPenalty', 'frequency_penalty', [-2, 2]),
    presence_penalty: number('presencePenalty', 'presence_penalty', [-2, 2]),
    seed: integer('seed', 'seed', -(2 ** 31)),
    output_format: config === undefined ? null : parseFormat(config, named),
    logprobs:
      find('responseLogprobs', 'logprobs')?.kind === 'true' ? { top: integer('logprobs', 'logprobs', 0) ?? 0 } : null,
  };
}

const JSON_TYPE = 'application/json';

/** A schema needs the type, as at Google. */
function parseFormat(config: JsonNode, named: RequestReading['named']): OutputFormat | null {
  const type = readOptionalText(config, 'responseMimeType', `${CONFIG}.responseMimeType`) || 'text/plain';
  const whole = given(config, 'responseJsonSchema') ?? given(config, '_responseJsonSchema');
  const own = given(config, 'responseSchema');
  if (type === 'text/plain' && whole === undefined && own === undefined) return null;
  const schemaMember = `${CONFIG}.${whole === undefined ? 'responseSchema' : 'responseJsonSchema'}`;
  if (type !== JSON_TYPE) {
    throw refuse(`${CONFIG}.responseMimeType`, given(config, 'responseMimeType') ?? null, `${JSON_TYPE} or text/plain`);
  }
  if (whole === undefined && own === undefined) {
    named.output_format = `${CONFIG}.responseMimeType`;
    return { kind: 'json' };
  }
  named.output_format = schemaMember;
  const schema =
    whole === undefined
      ? toJsonSchema(own ?? config, schemaMember)
      : jsonText(readObject(whole, schemaMember, 'a JSON Schema'));
  return { kind: 'json_schema', name: null, description: null, schema, strict: null };
}

const THINKING = `${CONFIG}.thinkingConfig`;
const LEVELS = ['minimal', 'low', 'medium', 'high'] as const;

function showsThoughts(thinking: JsonNode | undefined): boolean {
  return thinking !== undefined && given(thinking, 'includeThoughts')?.kind === 'true';
}

/** Null: nothing was asked for. A budget of -1, and thoughts alone, leave the amount to the model. */
function parseThinking(thinking: JsonNode | undefined, reading: RequestReading): ReasoningRequest | null {
  if (thinking === undefined) return null;
  readObject(thinking, THINKING);
  dropUnknown(thinking, new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel']), THINKING, reading);
  const display = showsThoughts(thinking) ? 'summarized' : 'omitted';
  const nothing = { mode: null, budgetTokens: null, effort: null, display } as const;
  const level = readOptionalText(thinking, 'thinkingLevel', `${THINKING}.thinkingLevel`)?.toLowerCase();
  const budget = given(thinking, 'thinkingBudget');
  if (level !== undefined && level !== 'thinking_level_unspecified') {
    const effort = LEVELS.find((known) => known === level);
    if (effort === undefined) {
      const words = LEVELS.map((known) => known.toUpperCase()).join(', ');
      throw refuse(`${THINKING}.thinkingLevel`, given(thinking, 'thinkingLevel') ?? null, `one of ${words}`);
    }
    reading.named.reasoning = `${THINKING}.thinkingLevel`;
    return { ...nothing, effort };
  }
  if (budget === undefined) {
    if (!showsThoughts(thinking)) return null;
    reading.named.reasoning = `${THINKING}.includeThoughts`;
    return { ...nothing, mode: 'adaptive' };
  }
  checkInteger(budget, `${THINKING}.thinkingBudget`, -1, true);
  reading.named.reasoning = `${THINKING}.thinkingBudget`;
  const tokens = numberValue(budget) ?? 0;
  if (tokens === 0) return { ...nothing, mode: 'off', display: null };
  return tokens === -1 ? { ...nothing, mode: 'adaptive' } : { ...nothing, mode: 'budget', budgetTokens: tokens };
}

function parseTier(root: JsonNode, { named }: RequestReading): string | null {
  const word = readOptionalText(root, 'serviceTier', 'serviceTier')?.toLowerCase();
  if (word === undefined || word === 'standard' || word.endsWith('unspecified')) return null;
  named.service_tier = 'serviceTier';
  return word;
}
