/** Owns how what a test scripts to be said becomes a speech: cut into pieces, counted. Knows no protocol. */
import type { Say } from './scenario.ts';
import type { Speech } from './what-to-say.ts';

/** Small enough that words, names and JSON tokens are cut in two. */
const PIECE_CHARACTERS = 7;
/** As many as the built-in models have. */
const INPUT_TOKENS = 11;

/**
 * The speech of a scripted answer, the `number`th one: agents take two answers of one id for one. A piece of text or of
 * reasoning counts as one token of the output, a call as ten.
 */
export function scriptedSpeech(say: Say, number: number): Speech {
  const { reasoning = '', text = '', calls = [], cacheReadTokens = 0 } = say;
  const thought = pieces(reasoning);
  const said = pieces(text);
  const toolCalls = calls.map(({ id, name, input }) => ({ id, name, argumentPieces: pieces(JSON.stringify(input)) }));
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

/** Cuts between characters, never inside one: a half of a surrogate pair is not UTF-8. */
function pieces(text: string): string[] {
  const characters = [...text];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE_CHARACTERS) {
    cut.push(characters.slice(at, at + PIECE_CHARACTERS).join(''));
  }
  return cut;
}
