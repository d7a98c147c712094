/**
 * Separates the reasoning that a response begins with, between `<think>` tags in its first text, from the text after it.
 * For providers that have no member for it (MiniMax, Perplexity, servers without a parser of reasoning).
 */
import type { EventFilter, GenerationEvent } from '../event.ts';

const OPENS = '<think>';
const CLOSES = '</think>';
const REASONING = { kind: 'reasoning', redacted: false, issuer: null } as const;
const NONE: readonly GenerationEvent[] = [];

/**
 * Holds text back until it is decided whether it begins with the tag, then what may be the beginning of the closing one.
 * A response that begins otherwise passes unchanged; one that ends within its thoughts has no text. White space before
 * the thoughts and before the text is dropped. Later parts move up by one.
 */
export function splitThoughts(): EventFilter {
  let state: 'before' | 'opening' | 'thinking' | 'closed' | 'answering' | 'passing' = 'before';
  /** The first text as it came, and how much later parts move. */
  let first = -1;
  let moved = 0;
  let held = '';
  let hasThoughts = false;

  function decide(text: string): readonly GenerationEvent[] {
    held += text;
    const begun = held.trimStart();
    if (begun.length < OPENS.length && OPENS.startsWith(begun)) return NONE;
    if (!begun.startsWith(OPENS)) return release();
    state = 'thinking';
    held = '';
    return [{ kind: 'part_start', part: first, opening: REASONING }, ...think(begun.slice(OPENS.length))];
  }

  /** The text does not begin with the tag. */
  function release(): readonly GenerationEvent[] {
    state = 'passing';
    const opened: GenerationEvent = { kind: 'part_start', part: first, opening: { kind: 'text' } };
    return [opened, ...deltaOf(first, held)];
  }

  function think(text: string): readonly GenerationEvent[] {
    const known = hasThoughts ? held + text : (held + text).trimStart();
    const at = known.indexOf(CLOSES);
    if (at === -1) {
      const kept = beginningAtEnd(known);
      held = known.slice(known.length - kept);
      hasThoughts ||= kept < known.length;
      return deltaOf(first, known.slice(0, known.length - kept));
    }
    held = '';
    state = 'closed';
    return [
      ...deltaOf(first, known.slice(0, at)),
      { kind: 'part_end', part: first },
      ...answer(known.slice(at + CLOSES.length)),
    ];
  }

  function answer(text: string): readonly GenerationEvent[] {
    const begun = state === 'closed' ? text.trimStart() : text;
    if (begun === '') return NONE;
    const part = first + 1;
    if (state === 'answering') return [{ kind: 'text_delta', part, text }];
    state = 'answering';
    moved = 1;
    return [{ kind: 'part_start', part, opening: { kind: 'text' } }, ...deltaOf(part, begun)];
  }

  function ofFirst(event: Extract<GenerationEvent, { readonly part: number }>): readonly GenerationEvent[] {
    if (event.kind === 'text_delta') {
      if (state === 'opening') return decide(event.text);
      return state === 'thinking' ? think(event.text) : answer(event.text);
    }
    if (event.kind === 'part_end') return end();
    const begun = state === 'opening' ? release() : NONE;
    // Citations of thoughts have no place.
    if (state === 'thinking' || state === 'closed') return NONE;
    return [...begun, moveOf(event)];
  }

  function end(): readonly GenerationEvent[] {
    const before = state;
    const last = before === 'opening' ? release() : deltaOf(first, held);
    state = 'passing';
    if (before === 'closed') return NONE;
    return [...last, { kind: 'part_end', part: before === 'answering' ? first + 1 : first }];
  }

  function moveOf(event: Extract<GenerationEvent, { readonly part: number }>): GenerationEvent {
    return moved === 0 || event.part < first ? event : { ...event, part: event.part + moved };
  }

  return {
    push(event) {
      if (!('part' in event)) return [event];
      if (state === 'before' && event.kind === 'part_start') {
        if (event.opening.kind !== 'text') {
          state = 'passing';
          return [event];
        }
        [state, first] = ['opening', event.part];
        return NONE;
      }
      return state !== 'passing' && event.part === first ? ofFirst(event) : [moveOf(event)];
    },
  };
}

function deltaOf(part: number, text: string): readonly GenerationEvent[] {
  return text === '' ? NONE : [{ kind: 'text_delta', part, text }];
}

/** The length of the longest beginning of the closing tag that the text ends with. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(CLOSES.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(CLOSES.slice(0, length))) return length;
  }
  return 0;
}
