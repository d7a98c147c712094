/**
 * Owns writing images and documents as blocks, and refusing those that the model or host does not take. Source: wire
 * reference B.3 and C.1.
 */
import type { DocumentPart, MediaPart, Source } from '../../generation/part.ts';
import type { WritableJson } from '../../wire/json-writer.ts';
import { refuseMember } from '../translation-notes.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import { type MarkableBlock, renderCacheMark } from './cache-control.ts';
import { imageTypeOf } from './image-type.ts';

const PDF = 'application/pdf';

/**
 * An image block. Its true type replaces a wrong one, which Anthropic would refuse; a closeness of looking is not told.
 */
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
  return { type: 'image', source: renderImageSource(source, path), cache_control: renderCacheMark(cache_mark) };
}

function renderImageSource(source: Source, path: string): WritableJson {
  switch (source.kind) {
    case 'base64': {
      const media_type = imageTypeOf(source.base64);
      if (media_type !== null) return { type: 'base64', media_type, data: source.base64 };
      const expected = 'expected the bytes of a JPEG, PNG, GIF or WebP image in base64';
      throw refuseMember(
        path,
        `found ${source.media_type || 'an image of no type'} whose bytes are none of those; ${expected}`,
      );
    }
    case 'url':
      return { type: 'url', url: source.url };
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
      return { type: 'url', url: source.url };
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

function renderPlainText(text: string): WritableJson {
  return { type: 'text', media_type: 'text/plain', data: text };
}

function requirePdf(path: string, traits: UpstreamTraits): void {
  if (traits.takes.pdf !== false) return;
  throw refuseMember(path, `${traits.model} takes no PDF; send its text, or choose another model`);
}

/** Ids of Anthropic's files begin so; other hosts write `file-…`. */
function renderFile(file_id: string, path: string): WritableJson {
  if (file_id.startsWith('file_')) return { type: 'file', file_id };
  throw refuseMember(path, 'found the id of a file that another host keeps; send the file itself');
}
