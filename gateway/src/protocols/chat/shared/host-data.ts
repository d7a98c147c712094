/**
 * Collects the opaque data that providers send with an answer and require back unchanged with its tool calls: Gemini's
 * signatures in `extra_content`, and OpenRouter's `reasoning_details`. The next request repeats it in the message.
 * https://ai.google.dev/gemini-api/docs/thought-signatures and https://openrouter.ai/docs/use-cases/reasoning-tokens,
 * read 2026-11-22.
 */
import type { Native } from '../../../generation/part.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';

/** Data on the call itself and on the message that holds the call. */
export interface HostData {
  readonly call: JsonObject | null;
  readonly message: JsonObject | null;
}

/** Larger data is discarded: real details are a few thousand characters. */
const CHARS_MAX = 1024 * 1024;
/** Kinds that a stream sends in pieces, and the member to concatenate. */
const TEXT_MEMBERS: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

export function packHostData({ call, message }: HostData): Native {
  return { origin: 'chat', json: JSON.stringify({ call: call ?? undefined, message: message ?? undefined }) };
}

/** Null: none, or another format's data. */
export function unpackHostData(native: Native | undefined): HostData | null {
  const packed = native?.origin === 'chat' ? parseObject(native.json) : null;
  return packed && { call: asObject(packed.call), message: asObject(packed.message) };
}

/** Google's placeholder for a lost call signature; the provider then skips the check. */
export const UNSIGNED_CALL: Native = packHostData({
  call: { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } },
  message: null,
});

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
