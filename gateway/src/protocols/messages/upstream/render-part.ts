/**
 * Renders one part of a turn as a content block, including media and documents. render-conversation.ts places the
 * blocks. Source: wire reference B.3, C.1 and C.5.
 */
import type {
  DocumentPart,
  MediaPart,
  Part,
  ReasoningPart,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../generation/part.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { isOwnMark } from '../../own-marks.ts';
import type { ArgumentAliases } from '../../request/argument-aliases.ts';
import { imageFormatOf } from '../../request/image-type.ts';
import { aliasText } from '../../request/tool-names.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { type MarkableBlock, renderCacheMark, type WrittenBlock } from './cache-control.ts';

export interface PartContext {
  readonly traits: UpstreamTraits;
  readonly notes: TranslationNotes;
  /** Maps each alias to the client's tool name. */
  readonly restored: Map<string, string>;
  readonly argumentAliases: ArgumentAliases;
}

/** Limit for tool names and call ids. */
export const NAME_CHARS_MAX = 128;

/**
 * The block, or null if the part has no content that this format can express. `path` is the part's place, for refusals.
 */
export function renderPart(part: Part, path: string, context: PartContext): WrittenBlock | null {
  switch (part.kind) {
    case 'text':
      return renderText(part, context);
    case 'refusal':
      return plainText(part.text);
    case 'reasoning':
      return renderReasoningPart(part);
    case 'tool_call':
      return renderCall(part, path, context);
    case 'tool_result':
      return renderResult(part, path, context);
    case 'image':
    case 'audio':
      if (part.detail !== null && part.detail !== 'auto') {
        context.notes.drop('image_url.detail', 'the messages format cannot say how closely to look at an image');
      }
      return renderMedia(part, path, context.traits);
    case 'document':
      return renderDocument(part, path, context.traits);
    case 'opaque':
      if (part.native.origin === 'messages') return new RawJson(part.native.json);
      return part.words === null ? null : plainText(part.words);
  }
}

/** The blocks of several parts in one place; parts without content are omitted. */
function renderParts(parts: readonly Part[], path: string, context: PartContext): WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  for (const part of parts) {
    const block = renderPart(part, path, context);
    if (block !== null) blocks.push(block);
  }
  return blocks;
}

/** A text block; null for a text without visible characters, which Anthropic refuses. */
function plainText(text: string): WrittenBlock | null {
  return isBlank(text) ? null : { type: 'text', text };
}

/** The name of a tool at the provider. */
export function renderToolName(name: string, restored: Map<string, string>): string {
  const alias = aliasText(name, NAME_CHARS_MAX);
  if (alias !== name) restored.set(alias, name);
  return alias;
}

function renderText({ text, citations, cache_mark }: TextPart, { notes }: PartContext): WrittenBlock | null {
  if (isBlank(text)) return null;
  const natives: RawJson[] = [];
  for (const { native } of citations) {
    if (native?.origin === 'messages') natives.push(new RawJson(native.json));
    else notes.drop('annotations', 'Anthropic takes back only citations of its own');
  }
  const cited = natives.length === 0 ? undefined : natives;
  return { type: 'text', text, citations: cited, cache_control: renderCacheMark(cache_mark) };
}

/** Only the issuer accepts a signature, byte for byte, and it refuses thinking without one. */
function renderReasoningPart({ text, signature, redacted, issuer }: ReasoningPart): WrittenBlock | null {
  if (issuer !== 'messages' || signature === null || signature === '' || isOwnMark(signature)) return null;
  return redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking: text, signature };
}

function renderCall(part: ToolCallPart, path: string, context: PartContext): WrittenBlock {
  const input = part.tool === 'custom' ? { input: part.arguments } : context.argumentAliases.renderCall(part, path);
  return {
    type: 'tool_use',
    id: aliasText(part.id, NAME_CHARS_MAX),
    name: renderToolName(part.name, context.restored),
    input,
    cache_control: renderCacheMark(part.cache_mark),
  };
}

function renderResult(part: ToolResultPart, path: string, context: PartContext): WrittenBlock {
  return {
    type: 'tool_result',
    tool_use_id: aliasText(part.call_id, NAME_CHARS_MAX),
    content: renderResultContent(part.parts, path, context),
    is_error: part.is_error ? true : undefined,
    cache_control: renderCacheMark(part.cache_mark),
  };
}

/** A single plain text stays a string, so that blank texts survive; empty content is omitted. */
function renderResultContent(parts: ToolResultPart['parts'], path: string, context: PartContext) {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && only.cache_mark === null && only.citations.length === 0) {
    return only.text;
  }
  const blocks = renderParts(parts, path, context);
  return blocks.length === 0 ? undefined : blocks;
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

const PDF = 'application/pdf';

/** An image block. The actual type replaces a wrong one, which Anthropic would refuse; `detail` is not sent. */
export function renderMedia(
  { kind, source, cache_mark }: MediaPart,
  path: string,
  traits: UpstreamTraits,
): MarkableBlock {
  if (kind === 'audio')
    throw refuseMember(path, 'the messages format has no audio; send its text, or choose another model');
  if (traits.takes.image === false) {
    throw refuseMember(path, `${traits.model} takes no images; leave the image out, or choose another model`);
  }
  return { type: 'image', source: renderImageSource(source, path, traits), cache_control: renderCacheMark(cache_mark) };
}

function renderImageSource(source: Source, path: string, traits: UpstreamTraits): WritableJson {
  switch (source.kind) {
    case 'base64': {
      const format = imageFormatOf(source.base64);
      if (format !== undefined) return { type: 'base64', media_type: `image/${format}`, data: source.base64 };
      const expected = 'expected the bytes of a JPEG, PNG, GIF or WebP image in base64';
      throw refuseMember(
        path,
        `found ${source.media_type || 'an image of no type'} whose bytes are none of those; ${expected}`,
      );
    }
    case 'url':
      return renderUrl(source.url, path, traits);
    case 'file':
      return renderFile(source.id, path);
    case 'text':
      throw refuseMember(path, 'found text; expected an image by its bytes or its URL');
  }
}

export function renderDocument(part: DocumentPart, path: string, traits: UpstreamTraits): MarkableBlock {
  return {
    type: 'document',
    source: renderDocumentSource(part.source, path, traits),
    title: part.title ?? undefined,
    context: part.context ?? undefined,
    citations: part.cites ? { enabled: true } : undefined,
    cache_control: renderCacheMark(part.cache_mark),
  };
}

function renderDocumentSource(source: Source, path: string, traits: UpstreamTraits): WritableJson {
  switch (source.kind) {
    case 'text':
      return renderPlainText(source.text);
    case 'url':
      requirePdf(path, traits);
      return renderUrl(source.url, path, traits);
    case 'file':
      return renderFile(source.id, path);
    case 'base64': {
      if (source.media_type.startsWith('text/plain')) {
        return renderPlainText(Buffer.from(source.base64, 'base64').toString());
      }
      if (source.media_type !== PDF) {
        throw refuseMember(path, `found a file of type ${source.media_type}; expected ${PDF} or text/plain`);
      }
      requirePdf(path, traits);
      return { type: 'base64', media_type: PDF, data: source.base64 };
    }
  }
}

function renderUrl(url: string, path: string, traits: UpstreamTraits): WritableJson {
  if (traits.messages.mediaUrls) return { type: 'url', url };
  throw refuseMember(path, `${traits.provider} fetches nothing from addresses; send the bytes in base64`);
}

function renderPlainText(text: string): WritableJson {
  return { type: 'text', media_type: 'text/plain', data: text };
}

function requirePdf(path: string, traits: UpstreamTraits): void {
  if (traits.takes.pdf !== false) return;
  throw refuseMember(path, `${traits.model} takes no PDF; send its text, or choose another model`);
}

/** Ids of Anthropic's files begin with this; other providers use `file-…`. */
function renderFile(file_id: string, path: string): WritableJson {
  if (file_id.startsWith('file_')) return { type: 'file', file_id };
  throw refuseMember(path, 'found the id of a file that another host keeps; send the file itself');
}
