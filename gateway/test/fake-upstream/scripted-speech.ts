/** Converts a scripted answer into a speech: split into pieces, with token counts. */
import type { Say } from './scenario.ts';
import type { Speech } from './what-to-say.ts';

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

/** Splits between characters, never inside one: half a surrogate pair is not valid UTF-8. */
function pieces(text: string): string[] {
  const characters = [...text];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE_CHARACTERS) {
    cut.push(characters.slice(at, at + PIECE_CHARACTERS).join(''));
  }
  return cut;
}
