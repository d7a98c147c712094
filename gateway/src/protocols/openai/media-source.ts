/** Parses and renders the source of images, sound and files in OpenAI's two formats: a data URL, a URL or base64. */
import type { DocumentPart, MediaPart, Source } from '../../generation/part.ts';
import type { JsonNode } from '../../wire/json-node.ts';
import { refuse } from '../request/request-facts.ts';
import { refuseMember } from '../request/translation-notes.ts';
import { given, readName, readText } from './read-member.ts';
import { modelWord, type OpenaiContext } from './render-context.ts';

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

/** `{data, format}` of `input_audio`. */
export function parseAudioSource(audio: JsonNode, path: string): Source {
  const base64 = readText(given(audio, 'data'), `${path}.data`, 'the sound in base64');
  const format = readName(given(audio, 'format'), `${path}.format`, 'the sound’s format, such as wav or mp3');
  const type = format.toLowerCase();
  return { kind: 'base64', media_type: type === 'mp3' ? 'audio/mpeg' : `audio/${type}`, base64 };
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

/** Throws CallFailure that names the turn if the model takes no images. */
export function renderImageUrl({ source }: MediaPart, path: string, context: OpenaiContext): string {
  if (context.traits.takes.image === false) throw refuseMedia(path, 'an image', 'images', context);
  if (source.kind === 'url') return source.url;
  if (source.kind !== 'base64') throw refuseSource(path, 'an image', source, 'base64 or a URL');
  return dataUrl(source);
}

/** A text document as one text under its title; null: its source is no text. */
export function renderDocumentText(
  { source, title, context: about, cites }: DocumentPart,
  context: OpenaiContext,
): string | null {
  if (cites) context.notes.drop('citations', `${modelWord(context)} cannot cite documents`);
  if (source.kind !== 'text') return null;
  return [title === null ? null : `Document: ${title}`, about, source.text]
    .filter((line) => line !== null)
    .join('\n\n');
}

type Base64Source = Extract<Source, { kind: 'base64' }>;

/** The members of a file. Upstream recognizes a PDF by its file extension. */
export function renderFile(title: string | null, source: Base64Source) {
  return { filename: fileName(title, source.media_type), file_data: dataUrl(source) };
}

function fileName(title: string | null, media_type: string): string {
  if (media_type !== 'application/pdf') return title ?? 'document';
  return title === null ? 'document.pdf' : title.toLowerCase().endsWith('.pdf') ? title : `${title}.pdf`;
}

function dataUrl({ media_type, base64 }: Base64Source): string {
  return `data:${media_type};base64,${base64}`;
}

export function refuseMedia(path: string, found: string, lacking: string, context: OpenaiContext) {
  return refuseMember(path, `holds ${found}, but ${modelWord(context)} takes no ${lacking}`);
}

export function refuseSource(path: string, found: string, source: Source, expected: string) {
  const where =
    source.kind === 'file'
      ? `the file ${JSON.stringify(source.id)}, which only its own host knows`
      : `a ${source.kind}`;
  return refuseMember(path, `holds ${found} given as ${where}; send it as ${expected}`);
}
