/** Owns the reading of image and document blocks of a messages request: what kind they are and how big. */
import { type Path, refuse } from '../body-problem.ts';
import { checkBase64, checkObject, checkRequiredWord, checkString, checkText } from '../check-member.ts';
import type { JsonObject } from '../json-value.ts';
import type { Media } from '../prompt.ts';

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

export function parseImage(block: JsonObject, path: Path): Media {
  const sourcePath = [...path, 'source'];
  const source = checkObject(block.source, sourcePath);
  const type = checkRequiredWord(source.type, [...sourcePath, 'type'], ['base64', 'url', 'file']);
  if (type !== 'base64') return parseReference(source, type, sourcePath, 'image');
  const mediaType = checkRequiredWord(source.media_type, [...sourcePath, 'media_type'], IMAGE_TYPES);
  return { kind: 'image', mediaType, bytes: checkBase64(source.data, [...sourcePath, 'data']) };
}

export function parseDocument(block: JsonObject, path: Path): Media {
  const sourcePath = [...path, 'source'];
  const source = checkObject(block.source, sourcePath);
  const type = checkRequiredWord(source.type, [...sourcePath, 'type'], ['base64', 'text', 'content', 'url', 'file']);
  if (type === 'base64') {
    const mediaType = checkRequiredWord(source.media_type, [...sourcePath, 'media_type'], ['application/pdf']);
    return { kind: 'document', mediaType, bytes: checkBase64(source.data, [...sourcePath, 'data']) };
  }
  if (type === 'text') {
    const mediaType = checkRequiredWord(source.media_type, [...sourcePath, 'media_type'], ['text/plain']);
    return {
      kind: 'document',
      mediaType,
      bytes: Buffer.byteLength(checkString(source.data, [...sourcePath, 'data']), 'utf8'),
    };
  }
  if (type !== 'content') return parseReference(source, type, sourcePath, 'document');
  const { content } = source;
  if (typeof content !== 'string' && !Array.isArray(content))
    refuse([...sourcePath, 'content'], content, 'a string or blocks');
  return { kind: 'document', mediaType: null, bytes: null };
}

/** Content that stands elsewhere: the demo model fetches nothing, so neither type nor size is known. */
function parseReference(source: JsonObject, type: string, path: Path, kind: Media['kind']): Media {
  if (type === 'file') checkText(source.file_id, [...path, 'file_id'], 'a file id');
  else if (!/^https?:\/\//i.test(checkString(source.url, [...path, 'url'])))
    refuse([...path, 'url'], source.url, 'an http(s) URL');
  return { kind, mediaType: null, bytes: null };
}
