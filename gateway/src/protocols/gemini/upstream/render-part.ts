/**
 * Renders one part of a turn as parts of a Gemini content: text, media, documents, calls with their signatures, results.
 * render-conversation.ts places them.
 */
import type {
  DocumentPart,
  MediaPart,
  Part,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../generation/part.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { exactArguments } from '../../exact-json.ts';
import { unpackSignature } from '../../host-data.ts';
import { aliasText } from '../../request/tool-names.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import type { GeminiModel } from '../shared/model-names.ts';

export interface PartContext {
  readonly traits: UpstreamTraits;
  readonly model: GeminiModel;
  readonly notes: TranslationNotes;
  /** Maps each alias to the client's tool name. */
  readonly restored: Map<string, string>;
  /** The names of the calls so far by their ids: results name their tool. */
  readonly called: Map<string, string>;
}

export type WrittenPart = RawJson | { readonly [member: string]: WritableJson | undefined };

const NAME_CHARS_MAX = 128;

/** Parts for the content of a turn; none where there is nothing to say. `path` is the part's place, for refusals. */
export function renderPart(part: Part, path: string, context: PartContext): WrittenPart[] {
  switch (part.kind) {
    case 'text':
      return renderText(part, context.notes);
    case 'refusal':
      return plainText(part.text);
    case 'tool_call':
      return [renderCall(part, path, context)];
    case 'tool_result':
      return renderResult(part, path, context);
    case 'image':
    case 'audio':
      return [renderMedia(part, path, context)];
    case 'document':
      return renderDocument(part, path, context);
    case 'opaque':
      if (part.native.origin === 'gemini') return [new RawJson(part.native.json)];
      return part.words === null ? [] : plainText(part.words);
    default:
      // Thoughts need not come back; what Google checks are the signatures of other parts.
      return [];
  }
}

/** Google refuses an empty text. */
export function plainText(text: string): WrittenPart[] {
  return text === '' ? [] : [{ text }];
}

/** An empty text may carry a signature, in its own place. */
function renderText({ text, citations, host_data }: TextPart, notes: TranslationNotes): WrittenPart[] {
  if (citations.length > 0) notes.drop('citations', 'Gemini takes back no citations');
  const thoughtSignature = unpackSignature(host_data);
  return thoughtSignature === null ? plainText(text) : [{ text, thoughtSignature }];
}

/** The name at the provider, which begins with a letter or underscore. */
export function renderToolName(name: string, restored: Map<string, string>): string {
  const begins = /^[A-Za-z_]/.test(name) ? name : `_${name}`;
  const alias = aliasText(begins, NAME_CHARS_MAX);
  if (alias !== name) restored.set(alias, name);
  return alias;
}

function renderCall(part: ToolCallPart, path: string, context: PartContext): WrittenPart {
  const args = part.tool === 'custom' ? { input: part.arguments } : new RawJson(exactArguments(part.arguments, path));
  const name = renderToolName(part.name, context.restored);
  context.called.set(part.id, name);
  const thoughtSignature = unpackSignature(part.host_data) ?? undefined;
  return { functionCall: { id: idOf(part.id, context), name, args }, thoughtSignature };
}

/** Vertex refuses ids. https://github.com/vercel/ai/tree/main/packages/google-vertex, read 2026-11-22. */
function idOf(id: string, { traits }: PartContext): string | undefined {
  return traits.gemini.platform === 'vertex' ? undefined : aliasText(id, NAME_CHARS_MAX);
}

/**
 * The result, and after it the media that the model takes only beside it. Its text is one string, never an object of its
 * own: Google reads `$ref` inside of an object as a reference to a part.
 */
function renderResult(part: ToolResultPart, path: string, context: PartContext): WrittenPart[] {
  const texts: string[] = [];
  const media: WrittenPart[] = [];
  for (const one of part.parts) {
    for (const written of renderPart(one, path, context)) {
      if (!(written instanceof RawJson) && typeof written.text === 'string') texts.push(written.text);
      else media.push(written);
    }
  }
  const text = texts.join('\n');
  const name = context.called.get(part.call_id) ?? '';
  const inside = context.model.combines && media.length > 0;
  const functionResponse = {
    id: idOf(part.call_id, context),
    name,
    response: part.is_error ? { error: text } : { output: text },
    parts: inside ? media : undefined,
  };
  return [{ functionResponse }, ...(inside ? [] : media)];
}

const TAKES = { image: 'images', audio: 'sound' } as const;

function renderMedia({ kind, source, detail }: MediaPart, path: string, { traits, notes }: PartContext): WrittenPart {
  if (detail !== null && detail !== 'auto') {
    notes.drop('image_url.detail', 'Gemini cannot be told how closely to look at one image');
  }
  if (traits.takes[kind] === false) {
    throw refuseMember(path, `${traits.model} takes no ${TAKES[kind]}; leave it out, or choose another model`);
  }
  return renderSource(source, path, kind === 'image' ? 'image/jpeg' : 'audio/mpeg');
}

/** A text document is sent as text under its title; the context of a file as a text before it. */
function renderDocument(part: DocumentPart, path: string, { traits, notes }: PartContext): WrittenPart[] {
  const { source, title, context: about, cites } = part;
  if (cites) notes.drop('citations', 'Gemini cites no documents');
  if (source.kind === 'text') {
    const lines = [title === null ? null : `Document: ${title}`, about, source.text].filter((line) => line !== null);
    return plainText(lines.join('\n\n'));
  }
  if (traits.takes.pdf === false) {
    throw refuseMember(path, `${traits.model} takes no documents; send its text, or choose another model`);
  }
  return [...(about === null ? [] : plainText(about)), renderSource(source, path, 'application/pdf')];
}

/** `likelyType`: for a URL whose end tells nothing. */
function renderSource(source: Source, path: string, likelyType: string): WrittenPart {
  switch (source.kind) {
    case 'base64':
      if (source.media_type !== '') return { inlineData: { mimeType: source.media_type, data: source.base64 } };
      throw refuseMember(path, 'found bytes without a media type; name it');
    case 'url':
      if (isPublicUrl(source.url)) {
        return { fileData: { mimeType: typeOfUrl(source.url) ?? likelyType, fileUri: source.url } };
      }
      throw refuseMember(path, 'found an address that is no public URL; send the file itself, or its https URL');
    case 'file':
      throw refuseMember(path, 'found the id of a stored file; send the file itself');
    case 'text':
      throw refuseMember(path, 'found text; expected bytes or a URL');
  }
}

/**
 * Google reads a bucket (`gs:`) and its own files with the operator's credential: they may be another caller's. Source:
 * contract, 10.12.
 */
function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return false;
  return !/(?:generativelanguage|aiplatform)\.googleapis\.com\.?$/.test(url.hostname);
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['pdf', 'application/pdf'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
]);

/** By the extension of the path; undefined: it has none that is known. */
function typeOfUrl(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return TYPES.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}
