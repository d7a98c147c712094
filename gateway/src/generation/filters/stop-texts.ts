/**
 * Stops a response at the client's stop sequences when upstream does not support them. Examines text only, each part
 * separately.
 */
import type { EventFilter, GenerationEvent } from '../event.ts';

interface OpenText {
  readonly matcher: TextMatcher;
  /** A possible beginning of a stop sequence. */
  held: string;
}

/**
 * Cuts the response before the first complete stop sequence and ends its part there. After that, only parts that were
 * already open (tool calls), usage and the end pass; `finish` names the stop sequence. Holds back a possible beginning
 * of a stop sequence until it is decided. None of `stops` may be empty.
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

  /** The text that other parts hold back, because they get no more text. */
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
        case 'malformed':
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

/** A text to find and its match so far. */
interface Wanted {
  readonly text: string;
  /** Its first code unit. */
  readonly first: string;
  /** For each match length: the length of the next shorter match that ends at the same place (Knuth, Morris, Pratt). */
  readonly shorter: readonly number[];
  matched: number;
}

/** A match in a piece: `end` is the offset in the piece after the first text found; `start` may precede the piece. */
interface TextMatch {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface TextMatcher {
  /** Reads a piece up to the first complete text (of several that end together: the longest); null without one. */
  read(piece: string): TextMatch | null;
  /** How many of the last code units could begin a text. */
  readonly heldChars: number;
}

/** Searches for texts. An empty text is a caller's mistake and throws. */
function startMatcher(texts: readonly string[]): TextMatcher {
  const wanted = texts.map(prepare);
  return {
    read(piece) {
      if (cannotTouch(wanted, piece)) return null;
      for (let index = 0; index < piece.length; index++) {
        const found = advanceAll(wanted, piece.charCodeAt(index));
        if (found !== null) return { text: found, start: index + 1 - found.length, end: index + 1 };
      }
      return null;
    },
    get heldChars() {
      let most = 0;
      for (const { matched } of wanted) if (matched > most) most = matched;
      return most;
    },
  };
}

/**
 * No match is in progress and none begins in this piece: true of most pieces, and native code detects it much faster.
 */
function cannotTouch(wanted: readonly Wanted[], piece: string): boolean {
  for (const { matched, first } of wanted) if (matched > 0 || piece.includes(first)) return false;
  return true;
}

/** The longest text that this code unit completes. */
function advanceAll(wanted: readonly Wanted[], unit: number): string | null {
  let found: string | null = null;
  for (const one of wanted) {
    advance(one, unit);
    if (one.matched === one.text.length && one.text.length > (found?.length ?? 0)) found = one.text;
  }
  return found;
}

function advance(one: Wanted, unit: number): void {
  while (one.matched > 0 && one.text.charCodeAt(one.matched) !== unit) one.matched = one.shorter[one.matched] ?? 0;
  if (one.text.charCodeAt(one.matched) === unit) one.matched += 1;
}

function prepare(text: string): Wanted {
  if (text === '') throw new Error('a text to look for is empty: it would be found everywhere');
  const shorter = [0, 0];
  let length = 0;
  for (let index = 1; index < text.length; index++) {
    while (length > 0 && text.charCodeAt(index) !== text.charCodeAt(length)) length = shorter[length] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(length)) length += 1;
    shorter.push(length);
  }
  return { text, first: text.charAt(0), shorter, matched: 0 };
}
