/** Owns what the built-in models say, apart from any protocol: reasoning, text pieces, tool calls, counters. */

/** Something said by a built-in model. `text` may be endless; the counters are fixed by the model's name. */
export interface Speech {
  /** What tells this answer from others: its id on the wire ends with it. */
  readonly id: string;
  readonly reasoning: readonly string[];
  readonly text: Iterable<string>;
  readonly toolCalls: readonly ToolCall[];
  /** Tokens of the prompt that no cache held. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON, in the pieces in which a stream brings them. */
  readonly argumentPieces: readonly string[];
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

/** Longest answer that `long:<n>` gives as a plain body, in events; as a stream n has no limit. */
export const LONG_PLAIN_MAX = 1_000_000;

/** What the model of this name says; null where the name is not built in. `long:<n>` has n text pieces, `endless` no end. */
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

/** True where no text is said; reads the first piece only, for there may be no last. */
export function isWordless({ text }: Speech): boolean {
  return text[Symbol.iterator]().next().done === true;
}

/** A speech of one piece of text: what the echo says. */
export function plainSpeech(text: string): Speech {
  return { ...OK, text: [text] };
}
