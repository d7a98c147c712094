/**
 * Finds the texts in the JSON of requests and answers, of all formats, and changes them in place: every other byte stays.
 * Identifiers, signatures, media and words of the format are no texts, and are never touched.
 */
import {
  children,
  elements,
  type JsonNode,
  type JsonOutline,
  member,
  memberName,
  numberValue,
  stringValue,
} from '../wire/json-node.ts';
import { scanJson } from '../wire/json-scan.ts';
import { type JsonPatch, patchJson } from '../wire/json-splice.ts';

/** `text[start, end)` becomes `to`. In UTF-16 units, ordered, without overlap. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

export interface JsonText {
  readonly text: string;
  /** The names from the root on; elements by their `index`, or their place. */
  readonly path: readonly string[];
  /** It is an argument of a tool call. */
  readonly isCall: boolean;
  /** It is reasoning that a signature covers: with one change it would be refused. */
  readonly isSigned: boolean;
  readonly node: JsonNode;
  /** The text of JSON within which it stands; null: it stands in the JSON itself. */
  readonly within: WithinText | null;
}

interface WithinText {
  readonly node: JsonNode;
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Words of formats and identifiers; no text. */
const OPAQUE: ReadonlySet<string> = new Set(
  (
    'type role id object model name index status url uri file_url fileUri file_uri image_url file_data b64_json signature ' +
    'thoughtSignature thought_signature encrypted_content encrypted_index mime_type mimeType media_type detail format ' +
    'finish_reason finishReason stop_reason stop_sequence service_tier phase obfuscation language outcome display ' +
    'displayName filename partial_image_b64 server_label connector_id container created memory_limit quality size ' +
    'background output_format role_name execution source_type error_code namespace'
  ).split(' '),
);
const OPAQUE_ENDING = /(?:_id|Id|_ids|_url|Uri)$/;

/** Members with words of the format only. */
const SKIPPED: ReadonlySet<string> = new Set([
  'cache_control',
  'safetyRatings',
  'safety_ratings',
  'usage',
  'usageMetadata',
  'context_management',
  'citationSources',
  'videoMetadata',
  'mediaResolution',
  'user_location',
]);

/** Members that spell a text: the probabilities of its tokens. */
export const SPELLING: ReadonlySet<string> = new Set(['logprobs', 'logprobsResult', 'top_logprobs']);
/** Those of transcriptions, which may also have each word with its time, and the ids of the tokens. */
export const SPELLING_OF_SPEECH: ReadonlySet<string> = new Set(['logprobs', 'words', 'tokens']);

/** `content`: a part of the format. `free`: JSON of the caller's own. `schema`: a declaration, with descriptions. */
export type Reading = 'content' | 'free' | 'schema';

interface Place {
  readonly path: readonly string[];
  readonly reading: Reading;
  readonly isCall: boolean;
  readonly isSigned: boolean;
}

export interface FoundTexts {
  readonly texts: JsonText[];
  /** The members that spell a text, and their values: what is masked could be read from them. */
  readonly spelling: ReadonlySet<string>;
  readonly spelled: JsonNode[];
  /** Arguments of tool calls are pieces of JSON, even where one of them is valid JSON. */
  readonly arePieces?: boolean;
}

/** Adds the texts below a node, the value of the member `name`. Throws OutlineFull where a part has too many values. */
export function findTexts(node: JsonNode, path: readonly string[], reading: Reading, found: FoundTexts): void {
  read(node, path.at(-1) ?? '', null, { path, reading, isCall: false, isSigned: false }, null, found);
}

function read(
  node: JsonNode,
  name: string,
  parent: JsonNode | null,
  place: Place,
  within: WithinText | null,
  found: FoundTexts,
): void {
  if (node.kind === 'string') readString(node, name, parent, place, within, found);
  else if (node.kind === 'array') {
    elements(node).forEach((element, at) => {
      read(element, name, parent, { ...place, path: [...place.path, indexOf(element, at)] }, within, found);
    });
  } else if (node.kind === 'object') readObject(node, place, within, found);
}

function indexOf(element: JsonNode, at: number): string {
  const index = member(element, 'index');
  return String((index === undefined ? undefined : numberValue(index)) ?? at);
}

function readObject(node: JsonNode, place: Place, within: WithinText | null, found: FoundTexts): void {
  const type = textOf(node, 'type');
  const isContent = place.reading === 'content';
  const signed = isContent ? signedMembers(node, type) : [];
  const isOfPrompt = place.path.length === 2 && place.path[0] === 'prompt' && place.path[1] === 'variables';
  for (const value of children(node)) {
    const name = memberName(value);
    const below = { ...place, isSigned: place.isSigned || signed.includes(name), path: [...place.path, name] };
    if (!isContent) {
      read(value, name, node, below, within, found);
      continue;
    }
    if (SKIPPED.has(name)) continue;
    if (found.spelling.has(name)) {
      if (value.kind !== 'null') found.spelled.push(value);
      continue;
    }
    const isCall = place.isCall || isCallMember(name, type);
    // The caller names the variables of a prompt.
    const isOwn = value.kind === 'string' ? isOfPrompt : isFree(name, type, value);
    const reading = isOwn ? 'free' : 'content';
    read(value, name, node, { ...below, isCall, reading }, within, found);
  }
}

/**
 * The members that a signature covers, in Anthropic's thinking, encrypted reasoning of OpenAI, and thoughts of Gemini. No
 * signature covers a message, whatever type it names: others ignore the type and read its content.
 */
function signedMembers(node: JsonNode, type: string | undefined): readonly string[] {
  if (member(node, 'role') !== undefined) return [];
  if (type === 'thinking') return isFilled(node, 'signature') ? ['thinking'] : [];
  if (type === 'thinking_delta') return ['thinking'];
  if (type === 'reasoning') return isFilled(node, 'encrypted_content') ? ['summary', 'content'] : [];
  return member(node, 'thought')?.kind === 'true' && isFilled(node, 'thoughtSignature') ? ['text'] : [];
}

function isFilled(node: JsonNode, name: string): boolean {
  return (textOf(node, name) ?? '') !== '';
}

function isCallMember(name: string, type: string | undefined): boolean {
  if (name === 'arguments' || name === 'args' || name === 'partial_json' || name === 'action') return true;
  if (name === 'input') return type !== undefined && (type.endsWith('tool_use') || type.startsWith('custom_tool_call'));
  return name === 'delta' && type !== undefined && /arguments\.delta$|custom_tool_call_input\.delta$/.test(type);
}

/** A tool's arguments, and results in JSON of its own. */
function isFree(name: string, type: string | undefined, value: JsonNode): boolean {
  if (name === 'args' || name === 'arguments') return true;
  if (name === 'response') return type === undefined;
  return name === 'input' && value.kind === 'object' && type?.endsWith('tool_use') === true;
}

function readString(
  node: JsonNode,
  name: string,
  parent: JsonNode | null,
  { path, reading, isCall, isSigned }: Place,
  within: WithinText | null,
  found: FoundTexts,
): void {
  if (reading === 'content' && isOpaque(name, parent)) return;
  if (reading === 'schema' && name !== 'description' && name !== 'title') return;
  const text = stringValue(node) ?? '';
  if (within === null && reading === 'content' && name === 'arguments' && found.arePieces !== true) {
    const bytes = Buffer.from(text);
    const outline = scanJson(bytes);
    if (outline.ok && outline.root.kind !== 'string') {
      const place = { path, reading: 'free', isCall: true, isSigned } as const;
      read(outline.root, name, null, place, { node, text, bytes }, found);
      return;
    }
  }
  found.texts.push({ text, path, isCall, isSigned, node, within });
}

function isOpaque(name: string, parent: JsonNode | null): boolean {
  if (OPAQUE.has(name) || OPAQUE_ENDING.test(name)) return true;
  // A text document of Messages; other data are base64.
  if (name === 'data') return parent === null || textOf(parent, 'type') !== 'text';
  return name === 'result' && parent !== null && textOf(parent, 'type') === 'image_generation_call';
}

function textOf(node: JsonNode, name: string): string | undefined {
  const value = member(node, name);
  return value === undefined ? undefined : stringValue(value);
}

/** The JSON with these edits and values, in new memory. */
export function spliceTexts(
  outline: JsonOutline,
  edits: ReadonlyMap<JsonText, readonly TextEdit[]>,
  values: readonly { readonly node: JsonNode; readonly json: string }[] = [],
): Uint8Array {
  const { bytes } = outline;
  const patches: JsonPatch[] = values.map(({ node, json }) => patchOf(bytes, node.start, node.end, node, json));
  const inside = new Map<WithinText, JsonPatch[]>();
  for (const [{ node, within }, changes] of edits) {
    if (within === null) patches.push(...patchesOf(bytes, node, changes));
    else inside.set(within, [...(inside.get(within) ?? []), ...patchesOf(within.bytes, node, changes)]);
  }
  for (const [within, changes] of inside) patches.push(...patchesOf(bytes, within.node, editsOf(within, changes)));
  return patchJson(bytes, patches);
}

/** A container that was opened later has an outline of its own, over a part of the bytes. */
function baseOf(bytes: Uint8Array, { outline }: JsonNode): number {
  return outline.bytes.byteOffset - bytes.byteOffset;
}

function patchOf(bytes: Uint8Array, start: number, end: number, node: JsonNode, text: string): JsonPatch {
  const base = baseOf(bytes, node);
  return { start: base + start, end: base + end, text: Buffer.from(text) };
}

/** The edits of a string's value as patches of its bytes. */
function patchesOf(bytes: Uint8Array, node: JsonNode, edits: readonly TextEdit[]): JsonPatch[] {
  const source = node.outline.bytes;
  let at = node.start + 1;
  let unit = 0;
  const seek = (to: number): number => {
    while (unit < to) {
      const byte = source[at] as number;
      if (byte === 0x5c) {
        at += source[at + 1] === 0x75 ? 6 : 2;
        unit += 1;
      } else {
        at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        unit += byte < 0xf0 ? 1 : 2;
      }
    }
    return at;
  };
  return edits.map(({ start, end, to }) => {
    const from = seek(start);
    return patchOf(bytes, from, seek(end), node, JSON.stringify(to).slice(1, -1));
  });
}

/** Patches of the bytes of a text as edits of the text. */
function editsOf({ bytes }: WithinText, patches: readonly JsonPatch[]): TextEdit[] {
  let at = 0;
  let unit = 0;
  const seek = (to: number): number => {
    unit += Buffer.from(bytes.buffer, bytes.byteOffset + at, to - at).toString().length;
    at = to;
    return unit;
  };
  return patches
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, end, text }) => ({ start: seek(start), end: seek(end), to: text.toString() }));
}
