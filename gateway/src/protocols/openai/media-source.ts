/** Parses where the bytes of an image or a file are, in OpenAI's two formats: a data URL or an address. */
import type { Source } from '../../generation/part.ts';
import type { JsonNode } from '../../wire/json-node.ts';
import { refuse } from '../request/request-facts.ts';
import { refuseMember } from '../request/translation-notes.ts';
import { readText } from './read-member.ts';

interface DataUrl {
  /** Lower case, without parameters. */
  readonly media_type: string;
  readonly base64: string;
}

/** Parses `data:<type>;base64,<bytes>` or an http(s) URL. Throws CallFailure for anything else. */
export function parseUrlSource(node: JsonNode | undefined, path: string): Source {
  const expected = 'an https URL or a data URL such as data:image/png;base64,…';
  const url = readText(node, path, expected);
  if (hasScheme(url, 'data:')) return { kind: 'base64', ...parseDataUrl(url, path) };
  if (hasScheme(url, 'https://') || hasScheme(url, 'http://')) return { kind: 'url', url };
  throw refuse(path, node ?? null, expected);
}

/** A file's bytes. Text is decoded, so that it can be sent as text to providers that accept no files. */
export function parseFileSource(node: JsonNode, path: string): Source {
  const source = parseUrlSource(node, path);
  if (source.kind !== 'base64' || !source.media_type.startsWith('text/')) return source;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(source.base64, 'base64'));
    return { kind: 'text', text };
  } catch {
    throw refuseMember(path, `found ${source.media_type} whose bytes are no UTF-8; expected text in UTF-8`);
  }
}

/** Corrects the one media type that clients often misname. Wire reference C.1. */
function mendMediaType(media_type: string): string {
  return media_type === 'image/jpg' ? 'image/jpeg' : media_type;
}

function parseDataUrl(url: string, path: string): DataUrl {
  const comma = url.indexOf(',');
  const [type = '', ...settings] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const isBase64 = settings.at(-1)?.trim().toLowerCase() === 'base64';
  if (comma < 0 || !isBase64 || !type.includes('/')) {
    throw refuseMember(
      path,
      'found a data URL without a media type or not in base64; expected data:<type>;base64,<bytes>',
    );
  }
  return { media_type: mendMediaType(type.trim().toLowerCase()), base64: url.slice(comma + 1) };
}

function hasScheme(url: string, scheme: string): boolean {
  return url.slice(0, scheme.length).toLowerCase() === scheme;
}
