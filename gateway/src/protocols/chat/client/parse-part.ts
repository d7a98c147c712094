/** Parses content parts: text, image, audio, file. parse-turns.ts parses assistant-only parts. */
import {
  type CacheMark,
  type DocumentPart,
  type MediaPart,
  type TextPart,
  textPart,
} from '../../../generation/part.ts';
import { elements, type JsonNode, stringValue } from '../../../wire/json-node.ts';
import { parseAudioSource, parseFileSource, parseUrlSource } from '../../openai/media-source.ts';
import {
  dropUnknown,
  given,
  MARK_MEMBERS,
  parseCacheMark,
  type RequestReading,
  readObject,
  readOptionalText,
  readText,
} from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { refuseMember } from '../../request/translation-notes.ts';

export type GivenPart = TextPart | MediaPart | DocumentPart;
export type GivenType = 'text' | 'image_url' | 'input_audio' | 'file';

const IMAGE_MEMBERS = new Set(['url', 'detail']);
const AUDIO_MEMBERS = new Set(['data', 'format']);
const FILE_MEMBERS = new Set(['file_data', 'file_id', 'filename']);
const PART_MEMBERS: Readonly<Record<GivenType, ReadonlySet<string>>> = {
  text: partMembers('text'),
  image_url: partMembers('image_url'),
  input_audio: partMembers('input_audio'),
  file: partMembers('file'),
};

/** A message's content: a string, or parts of the types allowed for its role. */
export function parseContent(
  content: JsonNode,
  path: string,
  types: readonly GivenType[],
  reading: RequestReading,
): GivenPart[] {
  const whole = stringValue(content);
  if (whole !== undefined) return [textPart(whole)];
  return parsePartList(content, path).map((part, index) => parsePart(part, `${path}.${index}`, types, reading));
}

/** The elements of content that is not a string. */
export function parsePartList(content: JsonNode, path: string): readonly JsonNode[] {
  if (content.kind !== 'array') throw refuse(path, content, 'a string or an array of parts');
  return elements(content);
}

/** One part. A bare string is a text part, as some providers accept it. */
export function parsePart(
  part: JsonNode,
  path: string,
  types: readonly GivenType[],
  reading: RequestReading,
): GivenPart {
  const bare = stringValue(part);
  if (bare !== undefined) return textPart(bare);
  const typeNode = given(readObject(part, path, 'a content part (an object)'), 'type');
  const type = types.find((known) => typeNode !== undefined && stringValue(typeNode) === known);
  if (type === undefined)
    throw refuse(`${path}.type`, typeNode ?? null, `one of ${types.join(', ')} in a message of this role`);
  dropUnknown(part, PART_MEMBERS[type], 'messages[].content[]', reading);
  const cache_mark = parseCacheMark(part, path, reading);
  switch (type) {
    case 'text':
      return { ...textPart(readText(given(part, 'text'), `${path}.text`)), cache_mark };
    case 'image_url':
      return parseImage(part, path, cache_mark, reading);
    case 'input_audio':
      return parseAudio(part, path, cache_mark, reading);
    case 'file':
      return parseFile(part, path, cache_mark, reading);
  }
}

/** `image_url` is an object; a bare URL is accepted too, because Mistral's client sends it. */
function parseImage(part: JsonNode, path: string, cache_mark: CacheMark | null, reading: RequestReading): MediaPart {
  const image = given(part, 'image_url');
  const at = `${path}.image_url`;
  if (image?.kind === 'string') return { kind: 'image', source: parseUrlSource(image, at), detail: null, cache_mark };
  const holder = readObject(image, at, 'an object with a url');
  dropUnknown(holder, IMAGE_MEMBERS, 'messages[].content[].image_url', reading);
  const source = parseUrlSource(given(holder, 'url'), `${at}.url`);
  return { kind: 'image', source, detail: readOptionalText(holder, 'detail', `${at}.detail`), cache_mark };
}

function parseAudio(part: JsonNode, path: string, cache_mark: CacheMark | null, reading: RequestReading): MediaPart {
  const at = `${path}.input_audio`;
  const audio = readObject(given(part, 'input_audio'), at, 'an object with data and format');
  dropUnknown(audio, AUDIO_MEMBERS, 'messages[].content[].input_audio', reading);
  return { kind: 'audio', source: parseAudioSource(audio, at), detail: null, cache_mark };
}

function parseFile(part: JsonNode, path: string, cache_mark: CacheMark | null, reading: RequestReading): DocumentPart {
  const at = `${path}.file`;
  const file = readObject(given(part, 'file'), at, 'an object with file_data and filename');
  dropUnknown(file, FILE_MEMBERS, 'messages[].content[].file', reading);
  const bytes = given(file, 'file_data');
  const id = readOptionalText(file, 'file_id', `${at}.file_id`);
  const title = readOptionalText(file, 'filename', `${at}.filename`);
  const shape = { kind: 'document', title, context: null, cites: false, cache_mark } as const;
  if (bytes !== undefined) return { ...shape, source: parseFileSource(bytes, `${at}.file_data`) };
  if (id !== null) return { ...shape, source: { kind: 'file', id } };
  throw refuseMember(at, 'found neither file_data nor file_id; expected file_data: the file as a data URL');
}

function partMembers(own: GivenType): ReadonlySet<string> {
  return new Set(['type', own, ...MARK_MEMBERS]);
}
