/**
 * Removes from a provider's message what it repeats of the request: reasons hold no content. Runs for failures only.
 * Keeps the words of the format (member names, types, the model, plain lower-case words), so that the message still says
 * what is wrong.
 */

const MASK = '[…]';
/** Longer messages are cut before they are searched: each word costs a search in the body. */
const CHARS_MAX = 600;
/** Of a larger body only its two ends are searched: a search of all of it would hold up other requests. */
const SEARCHED_BYTES_MAX = 1024 * 1024;
/** As many words in a row, even plain ones, are a quotation. */
const RUN_WORDS = 4;

const QUOTED = /(?<![\p{L}\p{N}])(["'`“‘«])((?:(?!\1)[^"“”‘’«»]){1,400})(["'`”’»])(?![\p{L}\p{N}])/gu;
const WORD = /\S+/g;
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
/** Words that say nothing about the request by themselves. */
const PLAIN = /^(?:[a-z]{1,14}|[A-Z]{2,5}|\d{1,7})$/;
const SENTENCE_WORD = /^[A-Z][a-z]{1,13}$/;
const NAME = /^[\w.\-[\]/]{1,48}$/;

/** `body`: the bytes of the request; null: they are not at hand, so quotations are removed. `names`: the request's models. */
export function withoutEcho(text: string, body: Uint8Array | null, names: readonly string[] = []): string {
  const message = text.slice(0, CHARS_MAX).replaceAll(/\s+/g, ' ').trim();
  if (message === '') return '';
  if (body === null || body.length === 0) return message.replaceAll(QUOTED, maskUnlessName);
  const sent = new SentText(body, names);
  const unquoted = message.replaceAll(QUOTED, (whole, _open, inner: string) => (sent.isContent(inner) ? MASK : whole));
  return maskWords(unquoted, sent);
}

function maskUnlessName(whole: string, _open: string, inner: string): string {
  return NAME.test(inner) ? whole : MASK;
}

function maskWords(text: string, sent: SentText): string {
  const words = [...text.matchAll(WORD)].map(([word], index) => ({ word, index }));
  const isMasked = words.map(() => false);
  for (let at = 0; at < words.length; at++) {
    const run = words.slice(at, at + RUN_WORDS).map(({ word }) => word);
    if (run.length === RUN_WORDS && sent.has(run.join(' ').replaceAll(EDGES, '')))
      isMasked.fill(true, at, at + RUN_WORDS);
    const isFirst = at === 0 || /[.!?:]$/.test(words[at - 1]?.word ?? '');
    const core = (words[at]?.word ?? '').replaceAll(EDGES, '');
    if (core === '' || PLAIN.test(core) || (isFirst && SENTENCE_WORD.test(core))) continue;
    if (sent.isContent(core)) isMasked[at] = true;
  }
  return words.flatMap(({ word }, at) => (!isMasked[at] ? [word] : isMasked[at - 1] === true ? [] : [MASK])).join(' ');
}

/** What the client sent, searched as JSON has it. */
class SentText {
  readonly #parts: readonly Buffer[];
  readonly #names: ReadonlySet<string>;

  constructor(body: Uint8Array, names: readonly string[]) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
    const half = SEARCHED_BYTES_MAX / 2;
    this.#parts = bytes.length <= SEARCHED_BYTES_MAX ? [bytes] : [bytes.subarray(0, half), bytes.subarray(-half)];
    this.#names = new Set(names);
  }

  has(text: string): boolean {
    const escaped = JSON.stringify(text).slice(1, -1);
    // Python's encoder escapes all but ASCII.
    const ascii = escaped.replaceAll(
      /[\u0080-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return [...new Set([text, escaped, ascii])].some((form) => this.#parts.some((part) => part.includes(form)));
  }

  /** Whether it is in the request as a value, other than a model's name or the type of an object. */
  isContent(text: string): boolean {
    if (this.#names.has(text) || !this.has(text)) return false;
    const quoted = JSON.stringify(text);
    return !['', ' '].some(
      (space) => this.#includes(`${quoted}${space}:`) || this.#includes(`"type":${space}${quoted}`),
    );
  }

  /** The text as it is, without escapes. */
  #includes(text: string): boolean {
    return this.#parts.some((part) => part.includes(text));
  }
}
