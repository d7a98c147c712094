/**
 * Reads from a request what the demo model answers: the last message, its media, tool results, and whether it thinks.
 * Takes excerpts, words and numbers from the message for the answer.
 */
import type { DocumentPart, MediaPart, Part } from '../generation/part.ts';
import type { GenerationRequest } from '../generation/request.ts';

export interface ToolResult {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Prompt {
  readonly request: GenerationRequest;
  /** The last text of the user; empty: the last message has none. */
  readonly text: string;
  readonly userTurns: number;
  /** Everything that the user sent since the last answer. */
  readonly media: ReadonlyArray<MediaPart | DocumentPart>;
  /** The results that the conversation ends with. */
  readonly results: readonly ToolResult[];
  readonly thinking: 'none' | 'shown' | 'hidden';
}

export function readPrompt(request: GenerationRequest): Prompt {
  let text = '';
  let userTurns = 0;
  let media: Array<MediaPart | DocumentPart> = [];
  let results: ToolResult[] = [];
  const toolNames = new Map<string, string>();
  for (const { role, parts } of request.turns) {
    if (role === 'assistant') {
      for (const part of parts) if (part.kind === 'tool_call') toolNames.set(part.id, part.name);
      media = [];
      results = [];
    } else if (role === 'user') {
      if (!parts.some(({ kind }) => kind === 'tool_result')) {
        text = '';
        results = [];
        userTurns += 1;
      }
      for (const part of parts) {
        // Coding agents add their own reminders to the user's text.
        if (part.kind === 'text' && (text === '' || !part.text.startsWith('<system-reminder>'))) text = part.text;
        else if (part.kind === 'tool_result') {
          const texts = part.parts.flatMap((inner) => (inner.kind === 'text' ? [inner.text] : []));
          const name = toolNames.get(part.call_id) ?? part.call_id;
          results.push({ name, text: texts.join('\n'), isError: part.is_error });
        }
        media.push(...mediaOf(part));
      }
    }
  }
  return { request, text, userTurns, media, results, thinking: readThinking(request, results.length > 0) };
}

function mediaOf(part: Part): ReadonlyArray<MediaPart | DocumentPart> {
  if (part.kind === 'tool_result') return part.parts.flatMap(mediaOf);
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'document' ? [part] : [];
}

function readThinking({ reasoning, named }: GenerationRequest, hasResults: boolean): Prompt['thinking'] {
  if (reasoning === null || reasoning.mode === 'off' || (reasoning.mode === 'between_tools' && !hasResults))
    return 'none';
  // On messages, an effort alone does not turn on thinking.
  if (reasoning.mode === null && named.reasoning === 'output_config.effort') return 'none';
  return reasoning.display === 'omitted' ? 'hidden' : 'shown';
}

/** Enough for any excerpt; the rest of a long text is not read. */
const CHARS_READ_MAX = 2_000;

/** One line of at most `max` characters, white space collapsed, control characters removed, cut with an ellipsis. */
export function excerptText(text: string, max: number): string {
  const read = text.slice(0, CHARS_READ_MAX).toWellFormed();
  const line = read.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= max && text.length <= CHARS_READ_MAX) return line;
  const kept = characters.slice(0, max - 1).join('');
  return `${kept.trimEnd()}…`;
}

/**
 * Words and numbers of the user's message for the members of a made-up value. Each is returned once, so that members
 * differ.
 */
export class Material {
  readonly #phrases: readonly string[];
  readonly #numbers: number[];
  #taken = 0;
  /** The count of values that only a number distinguishes. */
  ordinal = 0;

  constructor(text: string) {
    this.#phrases = [...new Set(findPhrases(text))];
    this.#numbers = findNumbers(text);
  }

  /** The next phrase of the message; after the last one, the member's name with a number. */
  takePhrase(name: string): string {
    return this.#phrases[this.#taken++] ?? `${name === '' ? 'value' : name} ${this.#taken - this.#phrases.length}`;
  }

  /** The next number of the message that fits; undefined if none is left. */
  takeNumber(fits: (value: number) => boolean): number | undefined {
    const at = this.#numbers.findIndex(fits);
    return at < 0 ? undefined : this.#numbers.splice(at, 1)[0];
  }
}

/** Best first: quoted text, then names (capitalized words that do not begin a sentence), then the message itself. */
function findPhrases(text: string): readonly string[] {
  const line = excerptText(text, 400);
  const quoted = [...line.matchAll(/["“«]([^"”»]{1,80})["”»]/g)].map((match) => match[1] ?? '');
  const names = line.match(/(?<=[^.!?\s]\s)\p{Lu}[\p{L}\p{N}'’-]+(?: \p{Lu}[\p{L}\p{N}'’-]+)*/gu) ?? [];
  return [...quoted, ...names, excerptText(text, 120)].filter((phrase) => phrase !== '');
}

function findNumbers(text: string): number[] {
  const matches = excerptText(text, 400).match(/(?<![\p{L}\p{N}.])-?\d{1,12}(?:\.\d{1,6})?(?![\p{L}\p{N}])/gu) ?? [];
  return matches.map(Number);
}
