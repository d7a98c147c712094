/**
 * Owns the table of the members of a request, in either format, by which a caller names other models or changes the price of
 * the answer, and their reading. Judges no right and no price. Only what is sent upstream as it came can do either: a
 * translation carries none of it but `service_tier`.
 */
import { invalidRequest } from '../../errors/call-failure.ts';
import { isStandard, isTierWord, TIER_MEMBERS, type TierMember, type TierWords } from '../../generation/tier-words.ts';
import {
  children,
  elements,
  isOpen,
  type JsonNode,
  member,
  memberName,
  numberValue,
  stringValue,
} from '../../wire/json-node.ts';
import { refuse } from './check-member.ts';

/** A model that the caller names beside `model`. */
export interface NamedModel {
  /** Where it is named: `fallbacks.0.model`. */
  readonly path: string;
  readonly name: string;
  /** `instead`: it may answer in the place of the model. `beside`: it works for the model that answers. */
  readonly role: 'instead' | 'beside';
  /** Words of its own; those of the request hold where it has none. */
  readonly tier: TierWords;
  /** Output tokens of one run of its own; null: as the request says. */
  readonly outputTokensMax: number | null;
  /** How often it may run. */
  readonly runs: number;
}

export interface PricedMembers {
  readonly models: readonly NamedModel[];
  /** The member by which upstream may choose any of its models; null: none. */
  readonly anyModel: string | null;
  /** The words that the request gives, without those that ask for the price of the list; `auto` is one of them. */
  readonly tier: TierWords;
  /** Members of which nobody knows what they cost. */
  readonly unpriced: readonly string[];
  /** What a refusal gave for the retry on another model; null: nothing. */
  readonly retryToken: string | null;
}

/** A request that has some of it, while it is read. */
interface Found {
  readonly models: NamedModel[];
  anyModel: string | null;
  tier: { [member in TierMember]?: string };
  readonly unpriced: string[];
  retryToken: string | null;
}

type Read = (node: JsonNode, name: string, found: Found) => void;

/** More are no request that anybody answers. Anthropic takes three fallbacks, OpenRouter as many models (2026). */
const NAMED_MAX = 64;
const NAME_CHARS_MAX = 256;
/** Runs of a model that works for another one, where the caller sets no `max_uses`; as with other tools that run upstream. */
const RUNS_ASSUMED = 10;
const RUNS_MAX = 1_000;

/**
 * By the member's name at the top level. Sources: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool,
 * https://openrouter.ai/docs/guides/routing/model-fallbacks, https://console.groq.com/docs/compound (2026-11-22). Hosts share
 * formats and mix members, so that both formats have all of them.
 */
const ROWS: ReadonlyMap<string, Read> = new Map<string, Read>([
  // Names a model.
  ['fallbacks', readFallbacks],
  ['models', readNames],
  ['fallback_model', readNames],
  ['fallback_models', readNames],
  ['compound_custom', readInside],
  ['advisor', readInside],
  ['compaction', readInside],
  ['thread', readInside],
  ['context_management', readInside],
  ['providerOptions', readInside],
  ['tools', readTools],
  // Changes the price, by a word that has one.
  ['service_tier', readTier],
  ['speed', readTier],
  ['inference_geo', readTier],
  // Changes the price in ways that no list tells.
  ['provider', readUnpriced],
  ['preset', readUnpriced],
  ['billing_policy', readUnpriced],
  ['plugins', readPlugins],
  // Makes the retry cheaper, at the account of upstream that gave it.
  ['fallback_credit_token', readRetryToken],
]);

/** In a `tools` that may name a model; one search of the bytes spares most requests a look at each tool. */
const TOOL_MARKS = ['model', 'openrouter:', '\\u'];

/**
 * Undefined for a request that has none of them. `members`: those of the top level.
 * @throws CallFailure `invalid_request` for a member of the table whose type nobody reads.
 */
export function findPricedMembers(members: readonly JsonNode[]): PricedMembers | undefined {
  let found: Found | undefined;
  for (const node of members) {
    if (node.kind === 'null') continue;
    const name = memberName(node);
    const read = ROWS.get(name);
    if (read === undefined || (name === 'tools' && !mayNameModel(node))) continue;
    found ??= { models: [], anyModel: null, tier: {}, unpriced: [], retryToken: null };
    read(node, name, found);
  }
  if (found === undefined) return undefined;
  const { models, anyModel, tier, unpriced, retryToken } = found;
  const isEmpty = models.length + unpriced.length + Object.keys(tier).length === 0 && anyModel === null;
  return isEmpty && retryToken === null ? undefined : found;
}

function mayNameModel({ outline: { bytes }, start, end }: JsonNode): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return TOOL_MARKS.some((mark) => text.includes(mark));
}

/** `"default"`, or a list of names and of objects with a `model`. */
function readFallbacks(node: JsonNode, path: string, found: Found): void {
  if (node.kind === 'string' && stringValue(node) === 'default') {
    found.anyModel = path;
    return;
  }
  if (node.kind !== 'array') throw refuse(path, node, '"default" or an array of objects with a model');
  for (const [index, one] of elements(node).entries()) {
    const at = `${path}.${index}`;
    if (one.kind === 'string') add(found, named(one, at, 'instead'));
    else if (one.kind !== 'object') throw refuse(at, one, 'an object with a model');
    else readFallback(one, at, found);
  }
}

function readFallback(node: JsonNode, path: string, found: Found): void {
  const model = member(node, 'model');
  if (model === undefined) throw refuse(`${path}.model`, null, 'the name of a model');
  const tier: Found['tier'] = {};
  for (const name of TIER_MEMBERS) {
    const word = member(node, name);
    if (word !== undefined && word.kind !== 'null') tier[name] = readWord(word, `${path}.${name}`);
  }
  add(found, { ...named(model, `${path}.model`, 'instead'), tier, outputTokensMax: readMost(node, 'max_tokens') });
}

/** One name, or a list of them. */
function readNames(node: JsonNode, path: string, found: Found): void {
  if (node.kind === 'string') add(found, named(node, path, 'instead'));
  else if (node.kind !== 'array') throw refuse(path, node, 'an array of names of models');
  else for (const [index, one] of elements(node).entries()) add(found, named(one, `${path}.${index}`, 'instead'));
}

/** What may name models wherever it likes: members whose names end so, as deep as the body is looked at. */
function readInside(node: JsonNode, path: string, found: Found): void {
  if (!isOpen(node)) return;
  if (node.kind === 'array')
    for (const [index, one] of elements(node).entries()) readInside(one, `${path}.${index}`, found);
  if (node.kind !== 'object') return;
  for (const value of children(node)) {
    const name = memberName(value);
    const at = `${path}.${name}`;
    if (value.kind === 'null') continue;
    if (name === 'model' || name.endsWith('_model')) add(found, withRuns(named(value, at, 'beside'), node));
    else if ((name === 'models' || name.endsWith('_models')) && value.kind === 'object') readValues(value, at, found);
    else if (name === 'models' || name.endsWith('_models')) readNames(value, at, found);
    else readInside(value, at, found);
  }
}

/** Groq's `compound_custom.models`: a name for each use. */
function readValues(node: JsonNode, path: string, found: Found): void {
  for (const value of children(node)) {
    if (value.kind !== 'null') add(found, named(value, `${path}.${memberName(value)}`, 'beside'));
  }
}

/** Tools of the caller's own have no model: what stands in their schemas is not looked at. */
function readTools(node: JsonNode, path: string, found: Found): void {
  for (const [index, tool] of elements(node).entries()) {
    if (tool.kind !== 'object') continue;
    const at = `${path}.${index}`;
    const type = member(tool, 'type');
    const word = (type === undefined ? undefined : stringValue(type)) ?? '';
    const model = member(tool, 'model');
    if (model !== undefined && model.kind !== 'null') add(found, withRuns(named(model, `${at}.model`, 'beside'), tool));
    if (!word.startsWith('openrouter:')) continue;
    found.unpriced.push(at);
    const parameters = member(tool, 'parameters');
    if (parameters !== undefined) readInside(parameters, `${at}.parameters`, found);
  }
}

function readTier(node: JsonNode, path: string, found: Found): void {
  const word = readWord(node, path);
  const asks = path as TierMember;
  if (word === 'auto' || !isStandard(asks, word)) found.tier[asks] = word;
}

/** An empty object asks for nothing. */
function readUnpriced(node: JsonNode, path: string, found: Found): void {
  if (node.kind !== 'object' && node.kind !== 'string') throw refuse(path, node, 'an object or a string');
  if (node.kind === 'string' || children(node).length > 0) found.unpriced.push(path);
}

function readPlugins(node: JsonNode, path: string, found: Found): void {
  if (node.kind !== 'array') throw refuse(path, node, 'an array of objects');
  const plugins = elements(node);
  for (const [index, plugin] of plugins.entries()) {
    if (plugin.kind !== 'object') throw refuse(`${path}.${index}`, plugin, 'an object with an id');
  }
  if (plugins.length > 0) found.unpriced.push(path);
  readInside(node, path, found);
}

/** A token, or an object that holds it. */
function readRetryToken(node: JsonNode, path: string, found: Found): void {
  const token = node.kind === 'object' ? member(node, 'token') : node;
  const text = token === undefined ? undefined : stringValue(token);
  if (text === undefined || text === '')
    throw refuse(path, token ?? node, 'the token of a refusal, a string that is not empty');
  found.retryToken = text;
}

function add({ models }: Found, model: NamedModel): void {
  if (models.length === NAMED_MAX) {
    throw invalidRequest(
      `${model.path}: found more than ${NAMED_MAX} names of models in the request; name fewer`,
      model.path,
    );
  }
  models.push(model);
}

function named(node: JsonNode, path: string, role: NamedModel['role']): NamedModel {
  const name = stringValue(node);
  if (name === undefined || name === '' || name.length > NAME_CHARS_MAX) {
    throw refuse(path, node, `the name of a model, a string of 1 to ${NAME_CHARS_MAX} characters`);
  }
  return { path, name, role, tier: {}, outputTokensMax: null, runs: 1 };
}

function withRuns(model: NamedModel, tool: JsonNode): NamedModel {
  const uses = readMost(tool, 'max_uses');
  const runs = uses === null ? RUNS_ASSUMED : Math.min(RUNS_MAX, uses);
  return { ...model, runs, outputTokensMax: readMost(tool, 'max_tokens') };
}

/** Null: absent, or no whole number; upstream judges that. */
function readMost(node: JsonNode, name: string): number | null {
  const value = member(node, name);
  const count = value === undefined ? undefined : numberValue(value);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

function readWord(node: JsonNode, path: string): string {
  const word = stringValue(node);
  if (word === undefined || !isTierWord(word))
    throw refuse(path, node, 'a word of at most 40 letters, digits, _, . and -');
  return word;
}
