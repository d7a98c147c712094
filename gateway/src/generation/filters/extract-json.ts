/**
 * Extracts the JSON object from a response whose model was asked for one only in the prompt: from a code fence or from
 * surrounding text. A response without an object passes unchanged, because it was answered and paid for.
 */
import type { EventFilter, GenerationEvent } from '../event.ts';
import type { Generation } from '../generation.ts';
import { JsonEnd } from '../json-end.ts';

type TextDelta = Extract<GenerationEvent, { kind: 'text_delta' }>;

const FENCE = '```';

/**
 * Holds text back until an object begins, at the start of the response or after a fence; passes it up to its end and
 * drops the rest. A response without such a beginning is searched when it ends. One that calls tools or refuses passes
 * unchanged.
 */
export function extractJson(): EventFilter {
  const texts = new Set<number>();
  const start = new ObjectStart();
  const end = new JsonEnd();
  /** Events of the texts that came before an object began. */
  let held: GenerationEvent[] = [];
  let state: 'before' | 'inside' | 'behind' | 'passing' = 'before';

  function release(): readonly GenerationEvent[] {
    const events = held;
    held = [];
    return events;
  }

  function lookFor(event: TextDelta): readonly GenerationEvent[] {
    const at = start.push(event.text);
    if (at === -1) {
      held.push(event);
      return [];
    }
    state = 'inside';
    const ends = release().filter(({ kind }) => kind === 'part_end');
    const text = event.text.slice(at);
    return [...ends, ...passInside(text === event.text ? event : { ...event, text })];
  }

  function passInside(event: TextDelta): readonly GenerationEvent[] {
    const at = end.push(event.text);
    if (at === -1) return [event];
    state = 'behind';
    return [at === event.text.length ? event : { ...event, text: event.text.slice(0, at) }];
  }

  /** The response stopped without an object where one is expected: takes any object within its text. */
  function extractLate(): readonly GenerationEvent[] {
    const first = held.find(({ kind }) => kind === 'text_delta');
    const object = start.surrounded();
    if (first?.kind !== 'text_delta' || object === null) return release();
    return [{ ...first, text: object }, ...release().filter(({ kind }) => kind === 'part_end')];
  }

  return {
    push(event) {
      if (state === 'passing') return [event];
      switch (event.kind) {
        case 'part_start':
          if (event.opening.kind === 'text') texts.add(event.part);
          if (event.opening.kind !== 'refusal' && event.opening.kind !== 'tool_call') return [event];
          state = 'passing';
          return [...release(), event];
        case 'text_delta':
          if (!texts.has(event.part) || state === 'behind') return texts.has(event.part) ? [] : [event];
          return state === 'before' ? lookFor(event) : passInside(event);
        case 'part_end':
        case 'citation':
          if (held.length === 0 || !texts.has(event.part)) return [event];
          held.push(event);
          return [];
        case 'finish':
          return [...(event.finish_reason === 'stop' ? extractLate() : release()), event];
        case 'error':
        case 'malformed':
          return [...release(), event];
        default:
          return [event];
      }
    },
  };
}

/** Whether a response that should be JSON stopped normally and is not a JSON object. */
export function isNoJson({ parts, finish_reason }: Generation): boolean {
  if (finish_reason !== 'stop') return false;
  if (parts.some(({ kind }) => kind === 'tool_call' || kind === 'refusal')) return false;
  return !isObject(parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''));
}

/** Finds the beginning of an object in a text that arrives in pieces. */
class ObjectStart {
  #text = '';
  /** No fence begins before this offset, not even a partial one. */
  #from = 0;
  #isBlank = true;

  /** The offset in the piece; -1 if no object has begun. */
  push(piece: string): number {
    const before = this.#text.length;
    this.#text += piece;
    if (this.#isBlank) {
      const at = this.#text.search(/\S/);
      this.#isBlank = at === -1;
      if (at !== -1 && this.#text[at] === '{') return at - before;
    }
    const at = this.#behindFence();
    return at === -1 ? -1 : at - before;
  }

  /** The longest text from a brace to a brace if it is an object, else null. */
  surrounded(): string | null {
    const text = this.#text.slice(this.#text.indexOf('{'), this.#text.lastIndexOf('}') + 1);
    return isObject(text) ? text : null;
  }

  #behindFence(): number {
    for (;;) {
      const fence = this.#text.indexOf(FENCE, this.#from);
      if (fence === -1) {
        this.#from = Math.max(this.#from, this.#text.length - FENCE.length + 1);
        return -1;
      }
      this.#from = fence;
      const line = this.#text.indexOf('\n', fence);
      if (line === -1) return -1;
      let at = line + 1;
      while (at < this.#text.length && /\s/.test(this.#text.charAt(at))) at += 1;
      if (at === this.#text.length) return -1;
      if (this.#text[at] === '{') return at;
      this.#from = fence + FENCE.length;
    }
  }
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
