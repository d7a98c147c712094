/**
 * Reads the text of a call's bodies for a search. It knows no format: the strings of JSON, and of a stream the strings at
 * the same place of its events one after another, so that a word is found that the stream divided.
 */
import type { CallContent, StoredBytes } from '../../ports/content.ts';

/** Bytes as text: a search would find short words in them by chance. */
const ENCODED = /^(?:data:[^,]{1,200};base64,|[A-Za-z0-9+/_-]{512,}={0,2}$)/;

/** The text of the client's request and response, in lower case. */
export function textOf({ request, response, stream }: Pick<CallContent, 'request' | 'response' | 'stream'>): string {
  const parts = [bodyText(request), stream ? streamText(decode(response)) : bodyText(response)];
  return parts.join('\n').toLowerCase();
}

function bodyText(body: StoredBytes): string {
  const text = decode(body);
  const value = parse(text);
  return value === undefined ? unescapeJson(text) : [...stringsOf(value)].map(({ text: found }) => found).join('\n');
}

/** Strings at the same place of events of the same kind belong together. */
function streamText(text: string): string {
  const texts = new Map<string, string>();
  const rest: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('data:')) continue;
    const event = parse(line.slice('data:'.length));
    if (event === undefined) rest.push(unescapeJson(line));
    else {
      const kind = kindOf(event);
      for (const { place, text: found } of stringsOf(event)) {
        const at = `${kind} ${place}`;
        texts.set(at, (texts.get(at) ?? '') + found);
      }
    }
  }
  return [...texts.values(), ...rest].join('\n');
}

/** The type of an event and the indexes of the part that it continues. */
function kindOf(event: unknown): string {
  if (typeof event !== 'object' || event === null) return '';
  const { type, index, output_index, content_index } = event as Readonly<Record<string, unknown>>;
  return JSON.stringify([type, index, output_index, content_index]);
}

interface FoundString {
  /** The names and positions that lead to it. */
  readonly place: string;
  readonly text: string;
}

/** All strings within a value, in their order. Not recursive: bodies may be nested deeply. */
function* stringsOf(value: unknown): Generator<FoundString> {
  const waiting: { readonly place: string; readonly value: unknown }[] = [{ place: '', value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { place, value: found } = next;
    if (typeof found === 'string') {
      if (!ENCODED.test(found)) yield { place, text: found };
    } else if (typeof found === 'object' && found !== null) {
      const members = Object.entries(found).map(([name, member]) => ({ place: `${place}/${name}`, value: member }));
      waiting.push(...members.reverse());
    }
  }
}

/** Undefined: not JSON, or truncated. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decode({ bytes }: StoredBytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text of incomplete JSON as a reader sees it. */
function unescapeJson(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, letter: string) =>
    code === undefined ? (SHORT_ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
