/** Defines what the built-in models say, independent of protocol: reasoning, text pieces, tool calls, token counts. */
import type { Say } from '../scenario.ts';

/** The speech of a built-in model. `text` may be endless; the model's name determines the token counts. */
export interface Speech {
  /** Distinguishes this answer from others: its id on the wire ends with it. */
  readonly id: string;
  readonly reasoning: readonly string[];
  readonly text: Iterable<string>;
  readonly toolCalls: readonly ToolCall[];
  /** Prompt tokens that were not cached. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON, in the pieces in which a stream sends them. */
  readonly argumentPieces: readonly string[];
  /** The text for a custom tool, in pieces; undefined: a function. */
  readonly textPieces?: readonly string[];
}

const NOTHING: Speech = {
  id: 'fake',
  reasoning: [],
  text: [],
  toolCalls: [],
  inputTokens: 11,
  cacheReadTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

const OK: Speech = { ...NOTHING, text: ['Good ', 'day ', 'to you.'], outputTokens: 5 };

const TOOL: Speech = {
  ...NOTHING,
  text: ['I look it up.'],
  toolCalls: [
    { id: 'call_fake_1', name: 'get_weather', argumentPieces: ['{"city":', '"Zür', 'ich"}'] },
    { id: 'call_fake_2', name: 'get_weather', argumentPieces: ['{"city":"', 'Oslo"', '}'] },
  ],
  outputTokens: 41,
};

const THINK: Speech = {
  ...NOTHING,
  reasoning: ['Two and two ', 'are four.'],
  text: ['The sum ', 'is 4.'],
  outputTokens: 19,
  reasoningTokens: 12,
};

function* words(count: number): Generator<string> {
  for (let index = 1; index <= count; index += 1) yield `w${index} `;
}

/** Longest plain answer of `long:<n>`, in events; as a stream n has no limit. */
export const LONG_PLAIN_MAX = 1_000_000;

/** Returns the speech of a built-in model, null for another name. `long:<n>` has n text pieces, `endless` no end. */
export function speechOf(model: string): Speech | null {
  if (model === 'ok') return OK;
  if (model === 'tool') return TOOL;
  if (model === 'think') return THINK;
  if (model === 'endless') {
    const endless = { [Symbol.iterator]: () => words(Number.POSITIVE_INFINITY) };
    return { ...NOTHING, text: endless, outputTokens: Number.MAX_SAFE_INTEGER };
  }
  const events = /^long:([0-9]{1,12})$/.exec(model)?.[1];
  if (events === undefined) return null;
  const outputTokens = Number(events);
  return { ...NOTHING, text: { [Symbol.iterator]: () => words(outputTokens) }, outputTokens };
}

/** True if there is no text; reads only the first piece, because the text may be endless. */
export function isWordless({ text }: Speech): boolean {
  return text[Symbol.iterator]().next().done === true;
}

/** A speech of one piece of text, as the echo uses it. */
export function plainSpeech(text: string): Speech {
  return { ...OK, text: [text] };
}

/** Small enough to split words, names and JSON tokens. */
const PIECE_CHARACTERS = 7;
/** The same as the built-in models report. */
const INPUT_TOKENS = 11;

/**
 * Returns the speech of a scripted answer, the `number`th one: agents treat two answers with one id as the same. A
 * piece of text or reasoning counts as one output token, a call as ten.
 */
export function scriptedSpeech(say: Say, number: number): Speech {
  const { reasoning = '', text = '', calls = [], cacheReadTokens = 0 } = say;
  const thought = pieces(reasoning);
  const said = pieces(text);
  const toolCalls = calls.map(({ id, name, input, custom }) => ({
    id,
    name,
    argumentPieces: pieces(JSON.stringify(input)),
    ...(custom === true ? { textPieces: pieces(String(input.input)) } : {}),
  }));
  return {
    id: `fake_${number}`,
    reasoning: thought,
    text: said,
    toolCalls,
    inputTokens: INPUT_TOKENS,
    cacheReadTokens,
    outputTokens: thought.length + said.length + 10 * toolCalls.length,
    reasoningTokens: thought.length,
  };
}

/** Splits between characters, never inside one: half a surrogate pair is not valid UTF-8. */
function pieces(text: string): string[] {
  const characters = [...text];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE_CHARACTERS) {
    cut.push(characters.slice(at, at + PIECE_CHARACTERS).join(''));
  }
  return cut;
}
