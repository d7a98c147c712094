/**
 * Takes the JSON object out of an answer whose model was only told in words to write one: out of a code fence, or of the words
 * around it. What holds no object passes as it is: it was answered and paid for.
 */
import type { EventFilter, GenerationEvent } from '../event.ts';
import type { Generation } from '../generation.ts';
import { JsonEnd } from '../json-end.ts';

type TextDelta = Extract<GenerationEvent, { kind: 'text_delta' }>;

const FENCE = '```';

/**
 * Text is held back until an object begins: with the answer, or behind a fence. It is passed up to its end, and what follows is
 * left out. An answer without such a beginning is looked through when it is over. One that calls tools or refuses passes as it is.
 */
export function extractJson(): EventFilter {
  const texts = new Set<number>();
  const start = new ObjectStart();
  const end = new JsonEnd();
  /** Of the texts that were said before an object began. */
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

  /** The answer stopped without an object at a place where one is expected: any that its words surround. */
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
        case 'nonsense':
          return [...release(), event];
        default:
          return [event];
      }
    },
  };
}

/** Whether an answer that was to be JSON stopped by itself and is no JSON object. */
export function isNoJson({ parts, finish_reason }: Generation): boolean {
  if (finish_reason !== 'stop') return false;
  if (parts.some(({ kind }) => kind === 'tool_call' || kind === 'refusal')) return false;
  return !isObject(parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''));
}

/** Finds where an object begins in a text that comes in pieces. */
class ObjectStart {
  #text = '';
  /** Before here no fence begins that could still become one. */
  #from = 0;
  #isBlank = true;

  /** The offset in the piece; -1: none began yet. */
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

  /** The longest text from a brace to a brace, where that is an object; null: there is none. */
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
