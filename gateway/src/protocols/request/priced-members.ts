/**
 * Parses the request members, of any format, that name other models or change the price of the answer. Checks no
 * permission and no price. Only a request sent unchanged can carry them: a translation carries only `service_tier`.
 */
import { invalidRequest } from '../../errors/call-failure.ts';
import { isStandard, isTierWord, TIER_MEMBERS, type TierMember } from '../../generation/usage.ts';
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
import { type NamedModel, type PricedMembers, refuse } from './request-facts.ts';

/** The mutable result while a request is read. */
interface Found {
  readonly models: NamedModel[];
  anyModel: string | null;
  tier: { [member in TierMember]?: string };
  readonly unpriced: string[];
  retryToken: string | null;
}

type Read = (node: JsonNode, name: string, found: Found) => void;

/** No provider accepts more. Anthropic accepts three fallbacks, OpenRouter three models (2026). */
const NAMED_MAX = 64;
const NAME_CHARS_MAX = 256;
/** Runs of a `beside` model if the caller sets no `max_uses`; the same as for other server-side tools. */
const RUNS_ASSUMED = 10;
const RUNS_MAX = 1_000;

/**
 * By top-level member name. Sources: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool,
 * https://openrouter.ai/docs/guides/routing/model-fallbacks, https://console.groq.com/docs/compound (2026-11-22).
 * Providers share formats and mix members, so all formats have all of them.
 */
const ROWS: ReadonlyMap<string, Read> = new Map<string, Read>([
  // Name a model.
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
  ['svg', readSvg],
  // Change the price to a known one.
  ['service_tier', readTier],
  ['speed', readTier],
  ['inference_geo', readTier],
  // Change the price to an unknown one.
  ['provider', readUnpriced],
  ['preset', readUnpriced],
  ['billing_policy', readUnpriced],
  ['plugins', readPlugins],
  // Makes the retry cheaper, on the upstream account that issued it.
  ['fallback_credit_token', readRetryToken],
]);

/** Marks of a `tools` that may name a model; one byte search saves most requests a look at each tool. */
const TOOL_MARKS = ['model', 'openrouter:', '\\u'];

/**
 * Undefined for a request that has none of them. `members`: the top-level members.
 * @throws CallFailure `invalid_request` for a member of the table with an unsupported type.
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

/** `"default"`, or a list of names and objects with a `model`. */
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

/** Finds model names in `model`, `models`, `*_model` and `*_models`, as deep as the outline reaches. */
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

/** Groq's `compound_custom.models`: one model name per use. */
function readValues(node: JsonNode, path: string, found: Found): void {
  for (const value of children(node)) {
    if (value.kind !== 'null') add(found, named(value, `${path}.${memberName(value)}`, 'beside'));
  }
}

/** The caller's own tools have no model: their schemas are not searched. */
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

/** Of images: the model that draws vectors. */
function readSvg(node: JsonNode, path: string, found: Found): void {
  const model = member(node, 'model');
  if (model !== undefined && model.kind !== 'null') add(found, named(model, `${path}.model`, 'beside'));
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

/** Null: absent, or not a non-negative integer; upstream judges that. */
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
