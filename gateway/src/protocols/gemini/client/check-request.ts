/**
 * Checks a Gemini request and reads its facts: the model and the kind of answer are in the path. Other members are
 * upstream's to judge.
 */
import { invalidRequest } from '../../../errors/call-failure.ts';
import type { TierWords } from '../../../generation/usage.ts';
import {
  children,
  type JsonNode,
  type JsonOutline,
  memberName,
  numberValue,
  stringValue,
} from '../../../wire/json-node.ts';
import { isVoid, readObject } from '../../openai/read-member.ts';
import {
  type CheckContext,
  checkKind,
  checkType,
  type MediaTally,
  type MemberType,
  type NamedModel,
  type PricedMembers,
  type RequestExtras,
  type RequestFacts,
  refuse,
  tallyPart,
} from '../../request/request-facts.ts';
import { referencesOf, type StoredReference } from '../../stored/stored-references.ts';
import { given, listOf, nameOf } from './members.ts';
import { noteCache, noteFiles, noteStores } from './stored-references.ts';

/** Members of `generationConfig` for which checking type and range is enough. */
export const CHECKED_MEMBERS: Readonly<Record<string, MemberType>> = {
  temperature: { type: 'number', isNullable: true, minimum: 0, maximum: 2 },
  topP: { type: 'number', isNullable: true, minimum: 0, maximum: 1 },
  maxOutputTokens: { type: 'integer', isNullable: true, minimum: 1 },
  candidateCount: { type: 'integer', isNullable: true, minimum: 1, maximum: 128 },
};

/**
 * @throws CallFailure `invalid_request` that names the first invalid member.
 */
export function checkRequest(outline: JsonOutline, context: CheckContext): RequestFacts {
  const { path } = context;
  if (!path) throw new Error('a Gemini request came without the model of its path');
  if (outline.root.kind !== 'object') throw invalidRequest(`the body is ${outline.root.kind}; expected a JSON object`);
  const root = requestIn(outline.root, context.countOnly);
  refuseTwice(root, '');
  checkModel(path.model, context.limits.modelNameMax);
  if (!context.countOnly) refuseWhole(root);
  const found: StoredReference[] = [];
  noteCache(root, found);
  const media = checkContents(given(root, 'contents'), context, found);
  checkInstruction(given(root, 'systemInstruction'), media, found);
  const tools = given(root, 'tools');
  const kinds = kindsIn(tools);
  noteStores(tools, found);
  const config = checkConfig(given(root, 'generationConfig'));
  const limit = config === undefined ? undefined : numberOf(config, 'maxOutputTokens');
  return {
    model: path.model,
    stream: path.stream,
    wantsUsage: true,
    endUser: null,
    inputBytes: outline.bytes.length - media.bytes,
    mediaParts: media.parts,
    outputTokensMax: limit ?? null,
    // The name under which the honoring of limits is learned.
    outputLimitMember: limit === undefined ? null : 'max_tokens',
    otherLimit: null,
    mayChangeLimit: false,
    answers: (config === undefined ? undefined : numberOf(config, 'candidateCount')) ?? 1,
    extras: findExtras(kinds, config, media.parts),
    priced: findPriced(root, kinds, config),
    stored: referencesOf(found),
  };
}

/** Its name is in the path, where no check of a member sees it. */
function checkModel(model: string, charsMax: number): void {
  if (model.length > 0 && model.length <= charsMax) return;
  const expected = `expected the name of a model in the path, of 1 to ${charsMax} characters`;
  throw invalidRequest(`model: found ${model.length} characters; ${expected}`, 'model');
}

const WHOLE = 'generateContentRequest';

/** The parser would take it for the request, unchecked. */
function refuseWhole(root: JsonNode): void {
  if (given(root, WHOLE) === undefined) return;
  throw invalidRequest(`${WHOLE}: only a token count has it; send its members themselves`, WHOLE);
}

/** The request itself: a count may be asked for a whole one in `generateContentRequest`. */
export function requestIn(root: JsonNode, countOnly: boolean): JsonNode {
  const whole = countOnly ? given(root, WHOLE) : undefined;
  return whole === undefined ? root : readObject(whole, WHOLE);
}

/** Of a member in both spellings, which one counts is not known. Null and other kinds of values pass. */
function refuseTwice(node: JsonNode, place: string): void {
  const names = new Set<string>();
  for (const found of children(node)) {
    const name = nameOf(found);
    if (names.has(name)) {
      const path = `${place}${memberName(found)}`;
      throw invalidRequest(`${path}: the member was sent twice, in camel case and in snake case; send it once`, path);
    }
    names.add(name);
  }
}

function checkConfig(node: JsonNode | undefined): JsonNode | undefined {
  if (node === undefined) return undefined;
  checkKind(node, 'generationConfig', ['object'], 'an object');
  refuseTwice(node, 'generationConfig.');
  for (const [name, type] of Object.entries(CHECKED_MEMBERS)) {
    const value = given(node, name);
    if (value !== undefined) checkType(value, `generationConfig.${name}`, type);
  }
  return node;
}

function numberOf(node: JsonNode, name: string): number | undefined {
  const value = given(node, name);
  return value === undefined ? undefined : numberValue(value);
}

/** Returns the tally of media in the turns. */
function checkContents(contents: JsonNode | undefined, { limits }: CheckContext, found: StoredReference[]): MediaTally {
  const media: MediaTally = { bytes: 0, parts: 0 };
  if (contents === undefined) throw refuse('contents', null, 'an array of contents');
  const turns = checkList(contents, 'contents', limits.messagesMax);
  if (turns.length === 0) throw refuse('contents', contents, 'an array of at least one content');
  for (const [index, content] of turns.entries()) {
    const path = `contents.${index}`;
    checkKind(content, path, ['object'], 'a content (an object with parts)');
    const parts = given(content, 'parts');
    if (parts === undefined) continue;
    for (const [place, part] of checkList(parts, `${path}.parts`, limits.partsMax).entries()) {
      checkKind(part, `${path}.parts.${place}`, ['object'], 'a part (an object)');
      checkPart(part, `${path}.parts.${place}`, media, found);
    }
  }
  return media;
}

/** Google takes only text there, which is its own to judge; an id or an address is read with the operator's account. */
function checkInstruction(node: JsonNode | undefined, media: MediaTally, found: StoredReference[]): void {
  const parts = node === undefined ? undefined : given(node, 'parts');
  for (const [index, part] of (parts === undefined ? [] : listOf(parts)).entries()) {
    checkKind(part, `systemInstruction.parts.${index}`, ['object'], 'a part (an object)');
    checkPart(part, `systemInstruction.parts.${index}`, media, found);
  }
}

function checkList(node: JsonNode, path: string, most: number): readonly JsonNode[] {
  checkKind(node, path, ['array', 'object'], 'an array');
  const found = listOf(node);
  if (found.length > most)
    throw invalidRequest(`${path}: found ${found.length} elements; expected at most ${most}`, path);
  return found;
}

function checkPart(part: JsonNode, path: string, media: MediaTally, found: StoredReference[]): void {
  for (const value of children(part)) {
    const name = nameOf(value);
    if (name === 'inlineData' || name === 'fileData') tallyPart(media, value);
    else if (name === 'functionResponse') tallyResult(value, media);
    noteFiles(value, `${path}.${name}`, found);
  }
}

/** The marks of media in the bytes of a result. Most results have none, and are not opened. */
const MEDIA_MARKS = ['nlineData', 'nline_data', 'ileData', 'ile_data'];

function tallyResult(result: JsonNode, media: MediaTally): void {
  const { bytes } = result.outline;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + result.start, result.end - result.start);
  if (!MEDIA_MARKS.some((mark) => text.includes(mark))) return;
  const parts = given(result, 'parts');
  for (const part of parts === undefined ? [] : listOf(parts)) {
    const medium = given(part, 'inlineData') ?? given(part, 'fileData');
    if (medium !== undefined) tallyPart(media, medium);
  }
}

/** Requests of a search tool: the most seen in one answer (recorded traffic, 2026). */
const SEARCHES_ASSUMED = 10;
const SEARCHES: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval']);
/** Tools without a price of their own: their tokens count as input. */
const FREE_TOOLS: ReadonlySet<string> = new Set([
  'functionDeclarations',
  'computerUse',
  'codeExecution',
  'urlContext',
  'mcpServers',
]);

/** The kinds of the tools, by their path. Throws CallFailure for what is no tool. */
function kindsIn(tools: JsonNode | undefined): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  for (const [index, tool] of tools === undefined ? [] : listOf(tools).entries()) {
    checkKind(tool, `tools.${index}`, ['object', 'null'], 'a tool (an object)');
    for (const kind of children(tool))
      if (kind.kind !== 'null') kinds.set(`tools.${index}.${nameOf(kind)}`, nameOf(kind));
  }
  return kinds;
}

/** Undefined for a request of text without searches. */
function findExtras(
  kinds: ReadonlyMap<string, string>,
  config: JsonNode | undefined,
  mediaParts: number,
): RequestExtras | undefined {
  const modalities = config === undefined ? undefined : given(config, 'responseModalities');
  const mediaOutput = modalities !== undefined && listOf(modalities).some((word) => stringValue(word) !== 'TEXT');
  const searches = [...kinds.values()].some((kind) => SEARCHES.has(kind));
  if (mediaParts === 0 && !mediaOutput && !searches) return undefined;
  const toolRequests = new Map(searches ? [['web_search', SEARCHES_ASSUMED] as const] : []);
  return { mediaInput: mediaParts > 0, mediaOutput, toolRequests };
}

const STANDARD_TIERS: ReadonlySet<string> = new Set(['standard', 'unspecified', 'service_tier_unspecified']);

/** Members of `generationConfig` by which Vertex AI lets another model answer. */
const ROUTING = ['routingConfig', 'modelSelectionConfig', 'modelConfig'] as const;

/** The models that may answer in place of that of the path. */
function findOthers(config: JsonNode | undefined): Pick<PricedMembers, 'models' | 'anyModel'> {
  const models: NamedModel[] = [];
  let anyModel: string | null = null;
  for (const member of ROUTING) {
    const node = config === undefined ? undefined : given(config, member);
    if (node === undefined || isVoid(node)) continue;
    const path = `generationConfig.${member}`;
    refuseTwice(node, `${path}.`);
    const manual = given(node, 'manualMode');
    if (manual !== undefined) refuseTwice(manual, `${path}.manualMode.`);
    const named = manual === undefined ? undefined : given(manual, 'modelName');
    const name = named === undefined ? undefined : stringValue(named);
    if (name === undefined || given(node, 'autoMode') !== undefined) anyModel = path;
    if (name !== undefined) {
      models.push({
        path: `${path}.manualMode.modelName`,
        name,
        role: 'instead',
        tier: {},
        outputTokensMax: null,
        runs: 1,
      });
    }
  }
  return { models, anyModel };
}

/** Undefined: nothing changes the price. */
function findPriced(
  root: JsonNode,
  kinds: ReadonlyMap<string, string>,
  config: JsonNode | undefined,
): PricedMembers | undefined {
  const node = given(root, 'serviceTier');
  const word = node === undefined ? undefined : readTier(node);
  const tier: TierWords = word === undefined || STANDARD_TIERS.has(word) ? {} : { service_tier: word };
  const unpriced = [...kinds].flatMap(([path, kind]) => (FREE_TOOLS.has(kind) || SEARCHES.has(kind) ? [] : [path]));
  const others = findOthers(config);
  const isOne = others.models.length === 0 && others.anyModel === null;
  if (isOne && unpriced.length === 0 && tier.service_tier === undefined) return undefined;
  return { ...others, tier, unpriced, retryToken: null };
}

const TIER_CHARS_MAX = 40;

function readTier(node: JsonNode): string {
  const word = stringValue(node);
  if (word === undefined || !/^\w+$/.test(word) || word.length > TIER_CHARS_MAX) {
    throw refuse('serviceTier', node, 'the name of a tier, such as flex or priority');
  }
  return word.toLowerCase();
}
