/**
 * Defines the facts of a checked request that the call pipeline needs, independent of its protocol, and reads those that
 * both formats have: the output limit, the end user, media and their bytes, server-side tools. Checks single members by
 * type and range, and words the errors.
 */
import type { Limits } from '../../config/limits.ts';
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { type TierWords, TOOL_KIND, type UnitUsage } from '../../generation/usage.ts';
import { normalizeEndUser } from '../../lib/end-user-id.ts';
import {
  children,
  elements,
  isInteger,
  type JsonNode,
  type JsonOutline,
  jsonText,
  member,
  memberName,
  numberValue,
  stringValue,
} from '../../wire/json-node.ts';
import type { StoredReference } from '../stored/stored-references.ts';

/** A model that the caller names in addition to `model`. */
export interface NamedModel {
  /** The path of its name: `fallbacks.0.model`. */
  readonly path: string;
  readonly name: string;
  /** `instead`: it may answer in place of the model. `beside`: it works for the answering model. */
  readonly role: 'instead' | 'beside';
  /** Its own tier members; the request's apply for those that it does not set. */
  readonly tier: TierWords;
  /** Output token limit of one run; null: the request's limit. */
  readonly outputTokensMax: number | null;
  /** Maximum number of runs. */
  readonly runs: number;
}

export interface PricedMembers {
  readonly models: readonly NamedModel[];
  /** The member that lets upstream choose any of its models; null: none. */
  readonly anyModel: string | null;
  /** The tier members of the request, except values that mean the list price; `auto` is included. */
  readonly tier: TierWords;
  /** Members whose cost is unknown. */
  readonly unpriced: readonly string[];
  /** The token that a refusal gave for the retry on another model; null: none. */
  readonly retryToken: string | null;
}

/** Media, server-side tools and units of a request. */
export interface RequestExtras {
  /** The input has audio, images or documents: any of it may be priced as such. */
  readonly mediaInput: boolean;
  /** The answer may have audio or images: any of the output may be priced as such. */
  readonly mediaOutput: boolean;
  /** Allowed requests of server-side tools, by kind. */
  readonly toolRequests: ReadonlyMap<string, number>;
  /** The images, seconds, characters or searches that the request asks for: held, and charged if the answer states no usage. Absent: none. */
  readonly units?: UnitUsage;
}

/** The model that a request names, and whether it asks for a stream. */
export interface AskedModel {
  readonly model: string;
  readonly stream: boolean;
}

export interface RequestFacts extends AskedModel {
  /** The answer is bytes that pass as they come; the content type that is expected. Absent: it is not. */
  readonly binary?: string;
  /** The content type of the sound in the events of the answer. Absent: they have no sound. */
  readonly sound?: string;
  /** The answer in one piece is text, not JSON. Absent: it is JSON. */
  readonly plainText?: true;
  /** The client asked for the usage chunk (chat) or gets usage anyway (messages). */
  readonly wantsUsage: boolean;
  readonly endUser: string | null;
  /** Bytes of the body without its images, audio and documents; tokens are estimated from it. */
  readonly inputBytes: number;
  /** The number of images, audio parts and documents. */
  readonly mediaParts: number;
  /** Maximum tokens of one answer; null: the caller set none. 0: answers have no output tokens. */
  readonly outputTokensMax: number | null;
  /** The member that sets it; of two, the one that applies. Null: none. */
  readonly outputLimitMember: OutputLimitMember | null;
  /** The value of the format's other member if both were sent: upstream gets only one. Null: one or none was sent. */
  readonly otherLimit: number | null;
  /** Some provider may read another limit from an unknown member: proven provider behavior does not apply here. */
  readonly mayChangeLimit: boolean;
  /** The number of requested answers (`n`): each is paid for. */
  readonly answers: number;
  /** Undefined: text only. */
  readonly extras: RequestExtras | undefined;
  /** The path of the endpoint below the format's own, which providers of the format have too; absent: the format's own. */
  readonly below?: string;
  /** The answer is made although its client leaves, and is fetched later. Absent: it is not. */
  readonly background?: true | undefined;
  /** Members that name other models or change the price; absent: none. */
  readonly priced?: PricedMembers | undefined;
  /** What it names that a provider keeps under the operator's account; absent: nothing. */
  readonly stored?: readonly StoredReference[] | undefined;
}

export interface CheckContext {
  readonly limits: Limits;
  /** The caller's version of the format; null: it has none. */
  readonly version: string | null;
  /** A token-counting request gets no answer: `max_tokens` is not required. */
  readonly countOnly: boolean;
  /** What the path names; absent: the body names it. */
  readonly path?: AskedModel | null;
}

/** Checks type and range of the founding specification's members; unknown members pass. Throws CallFailure. */
export type RequestCheck = (outline: JsonOutline, context: CheckContext) => RequestFacts;

/** A member that limits the output tokens of one answer. */
export type OutputLimitMember = 'max_tokens' | 'max_completion_tokens' | 'max_output_tokens';

const EXACT: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'n']);
const LENGTHS: ReadonlySet<number> = new Set([...EXACT].map((name) => name.length));

/**
 * Members that providers read in addition to the format's own: llama.cpp prefers `n_predict` to `max_tokens`
 * (tools/server/README.md, 2026-11); the others name the same limit in the engines behind compatible providers.
 */
const ALIASES: ReadonlySet<string> = new Set([
  'n_predict',
  'num_predict',
  'max_new_tokens',
  'max_output_tokens',
  'max_length',
  'best_of',
]);

/** Whether a member unknown to the format may change the output limit at some provider. */
export function mayChangeLimit(name: string): boolean {
  if (ALIASES.has(name)) return true;
  // Upper case first: it folds the long s, and lower case the Kelvin sign, as Go's decoder does.
  return LENGTHS.has(name.length) && EXACT.has(name.toUpperCase().toLowerCase());
}

/** The first top-level member that names an end user, else `metadata.user_id`; null: none does. */
export function readEndUser(root: JsonNode, names: readonly string[]): string | null {
  for (const name of names) {
    const id = idOf(member(root, name));
    if (id !== null) return id;
  }
  const metadata = member(root, 'metadata');
  return metadata?.kind === 'object' ? idOf(member(metadata, 'user_id')) : null;
}

function idOf(node: JsonNode | undefined): string | null {
  const id = node?.kind === 'string' ? stringValue(node) : undefined;
  return id === undefined ? null : normalizeEndUser(id);
}

/** Server-side tools carry the date of their version: `web_search_20250305`. */
const DATED = /^(.+)_20[0-9]{6}$/;

/** Requests of a tool without `max_uses`: the most seen in one answer (recorded traffic, 2025). */
const REQUESTS_ASSUMED = 10;

/** Caps the requests that a hold covers, so that a caller's absurd number does not hold a whole balance. */
const REQUESTS_MAX = 1_000;

/** Part of every such type; one byte search saves most requests, with only their own tools, a look at each tool. */
const DATE_MARK = '_20';

const NO_REQUESTS: ReadonlyMap<string, number> = new Map();

interface ExtraNodes {
  /** The number of images, audio parts and documents in the turns. */
  readonly mediaParts: number;
  /** The output types: `modalities`. */
  readonly modalities?: JsonNode | undefined;
  readonly tools?: JsonNode | undefined;
}

/** Undefined for a text-only request. */
export function findExtras({ mediaParts, modalities, tools }: ExtraNodes): RequestExtras | undefined {
  const mediaOutput = modalities?.kind === 'array' && children(modalities).some((word) => stringValue(word) !== 'text');
  const toolRequests = tools?.kind === 'array' ? countRequests(tools) : NO_REQUESTS;
  if (mediaParts === 0 && !mediaOutput && toolRequests.size === 0) return undefined;
  // Earlier assistant audio is referenced by id and has no part, so audio output implies possible media input.
  return { mediaInput: mediaParts > 0 || mediaOutput, mediaOutput, toolRequests };
}

/** By kind; the counts of a kind that is declared twice add up. */
function countRequests(tools: JsonNode): ReadonlyMap<string, number> {
  const { outline, start, end } = tools;
  const { bytes } = outline;
  if (!Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(DATE_MARK)) return NO_REQUESTS;
  let requests: Map<string, number> | null = null;
  for (const tool of children(tools)) {
    const type = tool.kind === 'object' ? member(tool, 'type') : undefined;
    const kind = DATED.exec((type === undefined ? undefined : stringValue(type)) ?? '')?.[1];
    if (kind === undefined || !TOOL_KIND.test(kind)) continue;
    requests ??= new Map();
    requests.set(kind, Math.min(REQUESTS_MAX, (requests.get(kind) ?? 0) + usesOf(tool)));
  }
  return requests ?? NO_REQUESTS;
}

function usesOf(tool: JsonNode): number {
  const node = member(tool, 'max_uses');
  const uses = node === undefined ? undefined : numberValue(node);
  return uses === undefined || !Number.isSafeInteger(uses) || uses < 0 ? REQUESTS_ASSUMED : uses;
}

export interface MediaTally {
  bytes: number;
  parts: number;
}

/** Shorter members called `data` are text. */
const NESTED_BYTES_MIN = 1_024;
const DATA_KEY = '"data"';
const BASE64_MARK = '"base64"';
const QUOTE = 0x22;
const COLON = 0x3a;

export function tallyPart(tally: MediaTally, part: JsonNode): void {
  tally.bytes += part.end - part.start;
  tally.parts += 1;
}

/** Tool results are deeper than the outline reaches: finds media by the name of the member that holds its bytes. */
export function tallyNested(tally: MediaTally, { outline, start, end }: JsonNode): void {
  if (end - start < NESTED_BYTES_MIN) return;
  const { bytes } = outline;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  if (!buffer.includes(BASE64_MARK)) return;
  for (let at = buffer.indexOf(DATA_KEY); at !== -1; at = buffer.indexOf(DATA_KEY, at + 1)) {
    const opening = openingQuote(buffer, at + DATA_KEY.length);
    const closing = opening === -1 ? -1 : buffer.indexOf(QUOTE, opening + 1);
    if (closing - opening < NESTED_BYTES_MIN) continue;
    tally.bytes += closing - opening;
    tally.parts += 1;
    at = closing;
  }
}

/** The quote after a colon; -1: the value is not a string, or this is not a member. */
function openingQuote(buffer: Buffer, from: number): number {
  let colon = false;
  for (let at = from; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === QUOTE) return colon ? at : -1;
    if (byte === COLON && !colon) colon = true;
    else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return -1;
  }
  return -1;
}

const FOUND_CHARS_MAX = 60;

/**
 * The type and range of a member, as in JSON Schema: the check and the OpenAPI document are made from it. Null counts
 * as absent if `isNullable`.
 */
export type MemberType =
  | { readonly type: 'boolean'; readonly isNullable: true; readonly default?: boolean }
  | {
      readonly type: 'number';
      readonly isNullable: true;
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
    }
  | { readonly type: 'integer'; readonly isNullable: boolean; readonly minimum: number; readonly maximum?: number };

export function checkType(node: JsonNode, path: string, type: MemberType): void {
  if (type.type === 'boolean') checkBoolean(node, path);
  else if (type.type === 'number') checkNumber(node, path, type.minimum, type.maximum);
  else checkInteger(node, path, type.minimum, type.isNullable, type.maximum);
}

/** An `invalid_request` error that names the member, what was found and what was expected. */
export function refuse(path: string, node: JsonNode | null, expected: string): CallFailure {
  return invalidRequest(`${path}: found ${node === null ? 'nothing' : found(node)}; expected ${expected}`, path);
}

/** Describes the value in a word or as a short excerpt. */
function found(node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return node.end - node.start > FOUND_CHARS_MAX ? 'a long string' : jsonText(node);
  return jsonText(node).slice(0, FOUND_CHARS_MAX);
}

export function checkKind(node: JsonNode, path: string, kinds: readonly JsonNode['kind'][], expected: string): void {
  if (!kinds.includes(node.kind)) throw refuse(path, node, expected);
}

/** A boolean; null counts as absent. */
export function checkBoolean(node: JsonNode, path: string): boolean {
  if (node.kind === 'true') return true;
  if (node.kind !== 'false' && node.kind !== 'null') throw refuse(path, node, 'true or false');
  return false;
}

/** A number within an inclusive range; null counts as absent. */
export function checkNumber(node: JsonNode, path: string, least: number, most: number): void {
  if (node.kind === 'null') return;
  const value = numberValue(node);
  if (value === undefined || !(value >= least && value <= most)) {
    throw refuse(path, node, `a number from ${least} to ${most}`);
  }
}

/** An integer of at least `least`, and at most `most`; null counts as absent if `nullable`. */
export function checkInteger(
  node: JsonNode,
  path: string,
  least: number,
  nullable: boolean,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (nullable && node.kind === 'null') return;
  const value = numberValue(node);
  if (value === undefined || !isInteger(node) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw refuse(path, node, `an integer ${range}`);
  }
}

/** A string of 1 (or `charsMin`) to `charsMax` characters without control characters. */
export function checkText(node: JsonNode, path: string, charsMax: number, charsMin = 0): string {
  const value = stringValue(node);
  const expected = `a string of ${charsMin} to ${charsMax} characters without control characters`;
  if (value === undefined || value.length < charsMin || isLonger(value, charsMax) || hasControl(value)) {
    throw refuse(path, node, expected);
  }
  return value;
}

/** Whether a text has more than `charsMax` characters, in code points as in JSON Schema. */
function isLonger(text: string, charsMax: number): boolean {
  if (text.length <= charsMax) return false;
  if (text.length > charsMax * 2) return true;
  let chars = 0;
  for (const _ of text) chars += 1;
  return chars > charsMax;
}

/** The elements of an array of `least` to `most` elements. */
export function checkArray(node: JsonNode, path: string, least: number, most: number): JsonNode[] {
  if (node.kind !== 'array') throw refuse(path, node, 'an array');
  const found = elements(node);
  if (found.length < least || found.length > most) {
    throw invalidRequest(`${path}: found ${found.length} elements; expected ${least} to ${most}`, path);
  }
  return found;
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 32 || (code >= 127 && code < 160)) return true;
  }
  return false;
}

/** Null counts as absent; values that are not strings pass (upstream judges them). */
export function checkMetadata(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkKind(node, 'metadata', ['object'], 'an object');
  for (const value of children(node)) {
    const name = memberName(value);
    if (isLonger(name, limits.metadataKeyMax)) {
      throw refuse('metadata', node, `keys of at most ${limits.metadataKeyMax} characters`);
    }
    if (stringValue(value) !== undefined) checkText(value, `metadata.${name}`, limits.metadataValueMax);
  }
}

/** Null counts as absent. */
export function checkTools(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkArray(node, 'tools', 0, limits.toolsMax).forEach((tool, index) => {
    checkKind(tool, `tools.${index}`, ['object'], 'a tool definition (an object)');
  });
}
