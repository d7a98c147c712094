/** Owns stopping an answer at the caller's stop texts where upstream does not look for them. Looks at text only, each part by itself. */
import type { EventFilter, GenerationEvent } from '../event.ts';
import { startMatcher, type TextMatcher } from './text-matcher.ts';

interface OpenText {
  readonly matcher: TextMatcher;
  /** What could be the beginning of a stop text. */
  held: string;
}

/**
 * The answer is cut before the stop text that is complete first, and its part ends there. Of what comes later only parts
 * that were open already (calls of tools), usage and the end are passed; `finish` names the stop text. What could be the
 * beginning of a stop text is held back until it is known. None of `stops` is empty.
 */
export function stopAtTexts(stops: readonly string[]): EventFilter {
  const texts = new Map<number, OpenText>();
  const others = new Set<number>();
  let stopped: string | null = null;

  function take(event: Extract<GenerationEvent, { kind: 'text_delta' }>, open: OpenText): readonly GenerationEvent[] {
    const { part, text } = event;
    const found = open.matcher.read(text);
    const { heldChars } = open.matcher;
    if (found === null && open.held === '' && heldChars === 0) return [event];
    const known = open.held + text;
    if (found === null) {
      open.held = known.slice(known.length - heldChars);
      return deltaOf(part, known.slice(0, known.length - heldChars));
    }
    const cut = deltaOf(part, known.slice(0, open.held.length + found.start));
    stopped = found.text;
    texts.delete(part);
    return [...cut, ...flush(), { kind: 'part_end', part }];
  }

  /** What other texts hold back, for nothing more will be said in them. */
  function flush(): readonly GenerationEvent[] {
    const events: GenerationEvent[] = [];
    for (const [part, open] of texts) {
      events.push(...deltaOf(part, open.held));
      open.held = '';
    }
    return events;
  }

  function pushStopped(event: GenerationEvent): readonly GenerationEvent[] {
    switch (event.kind) {
      case 'finish':
        return [{ ...event, finish_reason: 'stop_sequence', stop_sequence: stopped, explanation: null }];
      case 'part_end':
        return texts.delete(event.part) || others.delete(event.part) ? [event] : [];
      case 'part_start':
        return [];
      case 'text_delta':
      case 'arguments_delta':
      case 'signature':
      case 'citation':
        return others.has(event.part) ? [event] : [];
      default:
        return [event];
    }
  }

  return {
    push(event) {
      if (stopped !== null) return pushStopped(event);
      switch (event.kind) {
        case 'part_start':
          if (event.opening.kind === 'text') texts.set(event.part, { matcher: startMatcher(stops), held: '' });
          else others.add(event.part);
          return [event];
        case 'text_delta': {
          const open = texts.get(event.part);
          return open === undefined ? [event] : take(event, open);
        }
        case 'part_end': {
          const held = texts.get(event.part)?.held ?? '';
          texts.delete(event.part);
          others.delete(event.part);
          return held === '' ? [event] : [...deltaOf(event.part, held), event];
        }
        case 'error':
        case 'nonsense':
          return [...flush(), event];
        default:
          return [event];
      }
    },
  };
}

function deltaOf(part: number, text: string): readonly GenerationEvent[] {
  return text === '' ? [] : [{ kind: 'text_delta', part, text }];
}
