/**
 * Finds what a request names that a provider keeps under the operator's account: earlier responses, conversations, files,
 * containers, and addresses that the provider reads with the operator's credential. The tables hold for every format; who
 * may use what is decided elsewhere. Source: contract, 10.12.
 */
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../../wire/json-node.ts';

export type StoredKind =
  | 'response'
  | 'conversation'
  | 'item'
  | 'file'
  | 'vector_store'
  | 'container'
  | 'prompt'
  | 'connector'
  | 'skill'
  | 'cache'
  | 'voice'
  /** The sound of an earlier answer. */
  | 'audio'
  | 'batch'
  /** An address instead of an id. */
  | 'address';

/** One stored thing that a request names. */
export interface StoredReference {
  /** The path of the member, such as `input.0.content.1.file_id`. */
  readonly path: string;
  readonly kind: StoredKind;
  /** The id or the address; a value of another type as JSON. */
  readonly id: string;
}

/** Members that name something stored, at any depth of a part, an item or a tool. */
export const STATE_MEMBERS: ReadonlyMap<string, StoredKind> = new Map([
  ['previous_response_id', 'response'],
  ['comparison_response_id', 'response'],
  ['file_id', 'file'],
  ['file_ids', 'file'],
  ['vector_store_id', 'vector_store'],
  ['vector_store_ids', 'vector_store'],
  ['container', 'container'],
  ['container_id', 'container'],
  ['environment', 'container'],
  ['connector_id', 'connector'],
  ['skill_id', 'skill'],
  ['cached_content', 'cache'],
  ['cachedContent', 'cache'],
  ['s3Location', 'address'],
  ['s3_location', 'address'],
]);

/** Members with an address, which is refused only if it leads to what the operator's account may read. */
const ADDRESS_MEMBERS: ReadonlySet<string> = new Set([
  'url',
  'uri',
  'image_url',
  'file_url',
  'video_url',
  'audio_url',
  'fileUri',
  'file_uri',
]);

/** Members with texts, schemas and arguments: the caller's own data, whatever names are in it. */
const OWN_DATA: ReadonlySet<string> = new Set([
  'text',
  'input',
  'args',
  'arguments',
  'parameters',
  'schema',
  'input_schema',
  'output_schema',
  'format',
  'filters',
  'action',
  'metadata',
  'annotations',
  'citations',
  'results',
]);

/** Asks for a new container. */
const NEW = 'auto';

/** Adds the references of a part, an item, a tool, or a list of them. */
export function findReferences(node: JsonNode, path: string, found: StoredReference[]): void {
  if (node.kind === 'array') {
    for (const [index, element] of children(node).entries()) findReferences(element, `${path}.${index}`, found);
  }
  if (node.kind !== 'object') return;
  const members = children(node);
  for (const one of members) {
    const name = memberName(one);
    if (OWN_DATA.has(name)) continue;
    if (name === 'skill_id' && isVendorSkill(members)) continue;
    noteMember(one, name, `${path}.${name}`, found);
  }
}

/** Adds the references of one member, and of what is in it. */
function noteMember(node: JsonNode, name: string, path: string, found: StoredReference[]): void {
  const kind = STATE_MEMBERS.get(name);
  if (kind !== undefined) noteIds(node, kind, path, found);
  else if (ADDRESS_MEMBERS.has(name)) noteAddress(node, path, found);
  if (node.kind === 'object' || (node.kind === 'array' && kind === undefined)) findReferences(node, path, found);
}

/** Adds an id, each id of a list, or the `id` of an object. */
export function noteIds(node: JsonNode, kind: StoredKind, path: string, found: StoredReference[]): void {
  if (node.kind === 'null') return;
  if (node.kind === 'array') {
    for (const element of elements(node)) noteIds(element, kind, path, found);
  } else if (node.kind === 'object') {
    const id = member(node, 'id');
    if (id !== undefined) noteIds(id, kind, path, found);
    else if (kind === 'address') found.push({ path, kind, id: jsonText(node) });
  } else {
    const id = stringValue(node) ?? jsonText(node);
    if (kind !== 'container' || id !== NEW) found.push({ path, kind, id });
  }
}

/** Anthropic's own skills belong to no account. */
function isVendorSkill(members: readonly JsonNode[]): boolean {
  return members.some((one) => memberName(one) === 'type' && stringValue(one) === 'anthropic');
}

const DATA = Buffer.from('"data:');

function noteAddress(node: JsonNode, path: string, found: StoredReference[]): void {
  if (node.kind !== 'string') return;
  const { bytes } = node.outline;
  // Content itself may be large: it is not decoded.
  if (DATA.every((byte, index) => bytes[node.start + index] === byte)) return;
  const id = stringValue(node) ?? '';
  if (isOfAccount(id)) found.push({ path, kind: 'address', id });
}

/** Schemes that a provider resolves with the rights of the account: buckets, resource names, its own disk. */
const ACCOUNT_SCHEMES: ReadonlySet<string> = new Set(['gs:', 's3:', 'arn:', 'file:', 'dbfs:', 'wasbs:', 'abfss:']);
const GOOGLE_FILES = /(?:generativelanguage|aiplatform)\.googleapis\.com\.?$/;

/** Whether a provider would read the address with the operator's credential. Google names its files `files/…`. */
function isOfAccount(address: string): boolean {
  const url = URL.parse(address);
  if (url === null) return /^\s*(?:files|cachedContents)\//.test(address);
  return ACCOUNT_SCHEMES.has(url.protocol) || GOOGLE_FILES.test(url.hostname);
}

const ID_MARK = '_id';
const CONTAINER_MARK = 'container';
const ESCAPE = '\\u00';
const [FOUR, SEVEN] = [0x34, 0x37];

/**
 * Whether the text of a value may hold an id member: most have none, and one search of the bytes saves the walk. A name
 * may be written with escapes, which letters need nowhere else.
 */
export function mayHoldReference({ outline, start, end }: JsonNode, marks: readonly string[] = TOOL_MARKS): boolean {
  const { bytes } = outline;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  if (marks.some((mark) => text.includes(mark))) return true;
  for (let at = text.indexOf(ESCAPE); at !== -1; at = text.indexOf(ESCAPE, at + 1)) {
    const digit = text[at + ESCAPE.length] ?? 0;
    if (digit >= FOUR && digit <= SEVEN) return true;
  }
  return false;
}

const TOOL_MARKS: readonly string[] = [ID_MARK, CONTAINER_MARK];
/** The results of tools name files only. */
export const RESULT_MARKS: readonly string[] = ['file_id'];

/** Types of tools that the client runs, whose definitions are schemas of its own. */
const OWN_TOOLS: ReadonlySet<string | null> = new Set([null, 'function', 'custom']);

/** Adds the references of the tools that a provider runs. */
export function findToolReferences(
  tools: JsonNode,
  typeOf: (tool: JsonNode) => string | null,
  found: StoredReference[],
): void {
  if (tools.kind !== 'array' || !mayHoldReference(tools)) return;
  for (const [index, tool] of elements(tools).entries()) {
    if (!OWN_TOOLS.has(typeOf(tool))) findReferences(tool, `tools.${index}`, found);
  }
}

/** Members around a request that some hosts read: Google's compatible endpoint takes the name of a cache there. */
const AROUND: ReadonlySet<string> = new Set(['extra_body', 'google']);

/** Adds the sound of an earlier answer that an assistant's chat message stands for. */
export function noteAudio(message: JsonNode, path: string, found: StoredReference[]): void {
  const audio = member(message, 'audio');
  if (audio?.kind === 'object') noteIds(audio, 'audio', `${path}.audio`, found);
}

/** Adds the voice that `holder` names by an id: one of the account. The provider's own voices are named by words. */
export function noteVoice(holder: JsonNode, path: string, found: StoredReference[]): void {
  const voice = member(holder, 'voice');
  if (voice?.kind === 'object') noteIds(voice, 'voice', path, found);
}

/** Adds the references of a member of the body that its format does not know. */
export function noteUnknownMember(node: JsonNode, name: string, found: StoredReference[]): void {
  if (name === 'audio') noteVoice(node, 'audio.voice', found);
  if (STATE_MEMBERS.has(name) && name !== 'environment') noteMember(node, name, name, found);
  else if (AROUND.has(name)) findReferences(node, name, found);
}

const scratch: StoredReference[] = [];

/** An empty list for the references of one request, the same for all: a check is synchronous, and most find none. */
export function startReferences(): StoredReference[] {
  if (scratch.length > 0) scratch.length = 0;
  return scratch;
}

/** The references of the request; undefined: none. */
export function referencesOf(found: readonly StoredReference[]): readonly StoredReference[] | undefined {
  return found.length === 0 ? undefined : found.slice();
}
