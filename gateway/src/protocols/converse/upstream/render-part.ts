/**
 * Renders one part of a turn as a content block, including media and documents. render-conversation.ts places the blocks.
 * Source: provider reference C.3.
 */
import type {
  CacheMark,
  DocumentPart,
  MediaPart,
  OpaquePart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../generation/part.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { asArray, asObject, asText, parseObject } from '../../json.ts';
import { isOwnMark } from '../../own-marks.ts';
import type { ArgumentAliases } from '../../request/argument-aliases.ts';
import { imageFormatOf } from '../../request/image-type.ts';
import { aliasText, shortToolCallId } from '../../request/tool-names.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import type { VendorTraits } from '../shared/vendors.ts';

export interface Block {
  readonly [member: string]: WritableJson | undefined;
}

export interface PartContext {
  readonly traits: UpstreamTraits;
  readonly vendor: VendorTraits;
  readonly notes: TranslationNotes;
  /** Maps each alias to the client's tool name. */
  readonly restored: Map<string, string>;
  readonly argumentAliases: ArgumentAliases;
  /** The names of documents so far, which must differ. */
  readonly documents: Set<string>;
}

const NAME_CHARS_MAX = 64;
const HOUR_MINUTES = 60;

/**
 * The blocks of a part: itself, unless this format cannot express it, and a cache point after it. `path` is the part's
 * place, for refusals.
 */
export function renderPart(part: Part, path: string, context: PartContext): Block[] {
  const block = renderContent(part, path, context);
  const mark = 'cache_mark' in part ? part.cache_mark : null;
  if (block === null) return [];
  const point = renderCachePoint(part.kind === 'tool_result' ? (mark ?? innerMark(part)) : mark, context);
  return point === null ? [block] : [block, point];
}

function renderContent(part: Part, path: string, context: PartContext): Block | null {
  switch (part.kind) {
    case 'text':
      if (part.citations.length > 0) context.notes.drop('citations', 'Bedrock takes back the cited text only');
      return plainText(part.text);
    case 'refusal':
      return plainText(part.text);
    case 'reasoning':
      return renderReasoning(part, context);
    case 'tool_call':
      return renderCall(part, path, context);
    case 'tool_result':
      return renderResult(part, path, context);
    case 'image':
    case 'audio':
      return renderMedia(part, path, context);
    case 'document':
      return renderDocument(part, path, context);
    case 'opaque':
      return renderOpaque(part);
  }
}

/** A text block; null for a text without visible characters, which Bedrock refuses. */
function plainText(text: string): Block | null {
  return /\S/.test(text) ? { text } : null;
}

/** Null: no mark, or the model takes none here. */
export function renderCachePoint(mark: CacheMark | null, { vendor, notes }: PartContext): Block | null {
  if (mark === null) return null;
  if (vendor.caches === null) {
    notes.drop('cache_control', 'the model takes no cache points');
    return null;
  }
  const isLong = (mark.ttlMinutes ?? 0) >= HOUR_MINUTES;
  if (isLong && !vendor.caches.hour) notes.drop('cache_control.ttl', 'the model keeps a prompt for five minutes');
  return { cachePoint: { type: 'default', ttl: isLong && vendor.caches.hour ? '1h' : undefined } };
}

/** A result has no cache points inside. */
function innerMark({ parts }: ToolResultPart): CacheMark | null {
  return parts.reduce<CacheMark | null>((last, part) => ('cache_mark' in part ? part.cache_mark : null) ?? last, null);
}

/** The name of a tool at the provider. */
export function renderToolName(name: string, restored: Map<string, string>): string {
  const alias = aliasText(name, NAME_CHARS_MAX);
  if (alias !== name) restored.set(alias, name);
  return alias;
}

function renderCallId(id: string, { vendor }: PartContext): string {
  if (vendor.shortIds) return shortToolCallId(id);
  return /^[a-zA-Z0-9_.:-]{1,64}$/.test(id) ? id : aliasText(id, NAME_CHARS_MAX);
}

/** Only Anthropic's models take reasoning back, byte for byte and signed; others repeat it in their text. */
function renderReasoning(part: ReasoningPart, { vendor }: PartContext): Block | null {
  const { text, signature, redacted, issuer } = part;
  const isSigned = signature !== null && signature !== '' && !isOwnMark(signature);
  if (!isSigned || issuer !== 'messages' || vendor.reasoning !== 'thinking') return null;
  return { reasoningContent: redacted ? { redactedContent: signature } : { reasoningText: { text, signature } } };
}

function renderCall(part: ToolCallPart, path: string, context: PartContext): Block {
  const input = part.tool === 'custom' ? { input: part.arguments } : context.argumentAliases.renderCall(part, path);
  const name = renderToolName(part.name, context.restored);
  return { toolUse: { toolUseId: renderCallId(part.id, context), name, input } };
}

/** A result needs content, and a text in it visible characters. */
const NO_OUTPUT = '(no output)';

function renderResult(part: ToolResultPart, path: string, context: PartContext): Block {
  const found = part.parts.map((one) => renderContent(one, path, context)).filter((block) => block !== null);
  const content = found.length === 0 ? [{ text: NO_OUTPUT }] : found;
  const status = part.is_error ? 'error' : undefined;
  return { toolResult: { toolUseId: renderCallId(part.call_id, context), content, status } };
}

/** A search result of Anthropic's format has the same members; other blocks of another format become words. */
function renderOpaque({ type, native, words }: OpaquePart): Block | null {
  const given = native.origin === 'messages' && type === 'search_result' ? parseObject(native.json) : null;
  const source = asText(given?.source);
  const title = asText(given?.title);
  if (given === null || source === null || title === null) return words === null ? null : plainText(words);
  const content = asArray(given.content).map((block) => ({ text: asText(asObject(block)?.text) ?? '' }));
  const cites = asObject(given.citations)?.enabled === true;
  return { searchResult: { source, title, content, citations: cites ? { enabled: true } : undefined } };
}

/** Bedrock's names of the formats are those of their types, but for MP3. */
const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ...['opus', 'wav', 'aac', 'x-aac', 'flac', 'mp4', 'm4a', 'ogg', 'mkv', 'mka', 'mpga', 'pcm', 'webm'].map(
    (format) => [`audio/${format}`, format] as const,
  ),
  ['audio/mpeg', 'mp3'],
]);

function renderMedia(part: MediaPart, path: string, { traits, notes }: PartContext): Block {
  const { kind, source, detail } = part;
  if (traits.takes[kind] === false) {
    throw refuseMember(path, `${traits.model} takes no ${kind}; leave it out, or choose another model`);
  }
  if (detail !== null && detail !== 'auto') {
    notes.drop('image_url.detail', 'Bedrock cannot be told how closely to look at an image');
  }
  if (source.kind !== 'base64') throw refuseMember(path, `found ${kindOfSource(source.kind)}; expected its bytes`);
  const format = kind === 'image' ? imageFormatOf(source.base64) : AUDIO_FORMATS.get(source.media_type);
  if (format !== undefined) return { [kind]: { format, source: { bytes: source.base64 } } };
  const expected = kind === 'image' ? 'expected the bytes of a PNG, JPEG, GIF or WebP image' : 'expected wav or mp3';
  throw refuseMember(path, `found ${source.media_type || 'no type'} whose bytes are none of those; ${expected}`);
}

/** Bedrock fetches nothing from the web, and what the operator's account may read is not for callers to name. */
function kindOfSource(kind: 'url' | 'text' | 'file'): string {
  if (kind === 'url') return 'an address, which Bedrock does not fetch';
  return kind === 'file' ? 'the id of a file that another host keeps' : 'text';
}

const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
]);

function renderDocument(part: DocumentPart, path: string, context: PartContext): Block {
  const { source, title } = part;
  if (source.kind === 'url' || source.kind === 'file') {
    throw refuseMember(path, `found ${kindOfSource(source.kind)}; expected the document itself`);
  }
  const isText = source.kind === 'text';
  const format = isText ? 'txt' : DOCUMENT_FORMATS.get(source.media_type.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (format === undefined) {
    const known = [...new Set(DOCUMENT_FORMATS.values())].join(', ');
    throw refuseMember(
      path,
      `found a file of type ${source.kind === 'base64' ? source.media_type : ''}; expected one of ${known}`,
    );
  }
  if (format === 'pdf' && context.traits.takes.pdf === false) {
    throw refuseMember(path, `${context.traits.model} takes no PDF; send its text, or choose another model`);
  }
  // Claude refuses `source.text`, so a text goes as bytes too.
  const bytes = source.kind === 'text' ? Buffer.from(source.text).toString('base64') : source.base64;
  return {
    document: {
      format,
      name: nameDocument(title, context.documents),
      source: { bytes },
      context: part.context ?? undefined,
      citations: part.cites ? { enabled: true } : undefined,
    },
  };
}

const DOCUMENT_NAME_CHARS_MAX = 200;

/** Letters, digits, single spaces, hyphens, parentheses and brackets; unique in the request. */
function nameDocument(title: string | null, taken: Set<string>): string {
  const cleaned = (title ?? '').replace(/[^A-Za-z0-9()[\]-]+/g, ' ').trim();
  const base = (cleaned === '' ? 'Document' : cleaned).slice(0, DOCUMENT_NAME_CHARS_MAX - ' 10000'.length).trim();
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base} ${count}`;
  taken.add(name);
  return name;
}
