/**
 * Collects the data of a message that its provider requires back with its tool calls: Gemini's signatures in
 * `extra_content`, and OpenRouter's `reasoning_details`. The next request repeats it in the message.
 */
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** Larger data is discarded: real details are a few thousand characters. */
const CHARS_MAX = 1024 * 1024;
/** Kinds that a stream sends in pieces, and the member to concatenate. */
const TEXT_MEMBERS: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

/** Collects data on the message, whole or from the deltas of a stream. */
export class MessageData {
  #extra: JsonObject | null = null;
  readonly #details: Array<Record<string, unknown>> = [];
  #chars = 0;

  read({ extra_content, reasoning_details }: JsonObject): void {
    const extra = asObject(extra_content);
    if (extra !== null && this.#counts(extra)) this.#extra = extra;
    for (const one of asArray(reasoning_details)) {
      const detail = asObject(one);
      if (detail !== null && this.#counts(detail)) this.#take(detail);
    }
  }

  /** Null: no data, or too much. */
  get members(): JsonObject | null {
    const isEmpty = this.#extra === null && this.#details.length === 0;
    if (isEmpty || this.#chars > CHARS_MAX) return null;
    return {
      ...(this.#extra === null ? {} : { extra_content: this.#extra }),
      ...(this.#details.length === 0 ? {} : { reasoning_details: this.#details }),
    };
  }

  #counts(value: JsonObject): boolean {
    this.#chars += JSON.stringify(value).length;
    return this.#chars <= CHARS_MAX;
  }

  #take(detail: JsonObject): void {
    const last = this.#details.at(-1);
    const textMember = TEXT_MEMBERS[asText(detail.type) ?? ''];
    if (last === undefined || textMember === undefined || !isMore(detail, last)) {
      this.#details.push({ ...detail });
      return;
    }
    for (const [name, value] of Object.entries(detail)) {
      if (name === textMember) last[name] = `${asText(last[name]) ?? ''}${asText(value) ?? ''}`;
      else if (value !== null && value !== '') last[name] = value;
    }
  }
}

/** Whether a piece continues the previous detail. */
function isMore(piece: JsonObject, last: JsonObject): boolean {
  const hasOtherId = asText(piece.id) !== null && asText(last.id) !== null && piece.id !== last.id;
  return piece.type === last.type && piece.index === last.index && !hasOtherId;
}
