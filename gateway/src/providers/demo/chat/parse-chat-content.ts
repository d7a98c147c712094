/** Owns the reading of one message's `content` in a chat completions request: a string, or parts of known types. */
import { type Path, refuse } from '../body-problem.ts';
import { checkBase64, checkObject, checkRequiredWord, checkString, checkText, checkWord } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { Media } from '../prompt.ts';

/** Which parts a role may hold: only text; a user's; an assistant's. */
type Holder = 'text' | 'user' | 'assistant';

const PARTS: Readonly<Record<Holder, readonly string[]>> = {
  text: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
};
const DATA_URL = /^data:([a-zA-Z0-9.+-]+\/[a-zA-Z0-9.+-]+)?(?:;[a-zA-Z0-9=.+-]+)*;base64,/;

/** The last text of the content, and its media. */
export function parseChatContent(
  value: unknown,
  path: Path,
  holder: Holder,
): { text: string; media: readonly Media[] } {
  if (typeof value === 'string') return { text: value, media: [] };
  if (!Array.isArray(value)) return refuse(path, value, 'a string or an array of content parts');
  if (value.length === 0) return refuse(path, value, 'at least one content part');
  let text = '';
  const media: Media[] = [];
  value.forEach((entry: unknown, at) => {
    const partPath = [...path, at];
    const part = checkObject(entry, partPath);
    const type = checkRequiredWord(part.type, [...partPath, 'type'], PARTS[holder]);
    if (type === 'text') text = checkString(part.text, [...partPath, 'text']);
    else if (type === 'refusal') checkString(part.refusal, [...partPath, 'refusal']);
    else media.push(parseMedia(part, type, partPath));
  });
  return { text, media };
}

function parseMedia(part: JsonObject, type: string, path: Path): Media {
  if (type === 'image_url') {
    const image = checkObject(part.image_url, [...path, 'image_url']);
    checkWord(image.detail, [...path, 'image_url', 'detail'], ['auto', 'low', 'high', 'original']);
    return parseUrl(image.url, [...path, 'image_url', 'url'], 'image');
  }
  if (type === 'input_audio') {
    const sound = checkObject(part.input_audio, [...path, 'input_audio']);
    const format = checkRequiredWord(sound.format, [...path, 'input_audio', 'format'], ['wav', 'mp3']);
    return {
      kind: 'sound',
      mediaType: `audio/${format}`,
      bytes: checkBase64(sound.data, [...path, 'input_audio', 'data']),
    };
  }
  const file = checkObject(part.file, [...path, 'file']);
  if (!isAbsent(file.file_data)) return parseUrl(file.file_data, [...path, 'file', 'file_data'], 'document');
  checkText(file.file_id, [...path, 'file', 'file_id'], 'a file id, or `file_data`');
  return { kind: 'document', mediaType: null, bytes: null };
}

function parseUrl(value: unknown, path: Path, kind: 'image' | 'document'): Media {
  const url = checkText(value, path, 'an http(s) URL or a data URL in base64');
  const match = DATA_URL.exec(url.slice(0, 200));
  if (match !== null)
    return { kind, mediaType: match[1] ?? null, bytes: checkBase64(url.slice(match[0].length), path) };
  if (kind === 'image' && !/^https?:\/\//i.test(url)) refuse(path, url, 'an http(s) URL or a data URL in base64');
  if (kind === 'document') refuse(path, url, 'a data URL in base64');
  return { kind, mediaType: null, bytes: null };
}
