/** Defines the content of the upstream's answers in each format: the text, its pieces on a stream, and the tokens. */
import type { Protocol } from '../protocol.ts';

/** The text of a plain answer. */
export const ANSWER =
  'A toll gate counts every cart that passes, asks for the coin that the board names, and writes both into a book. ' +
  'At night the keeper adds the coins and the lines up; where they differ, one of the two is wrong, and the book says which.';

const WORDS = ANSWER.split(' ');

/** The text events of a timed stream. */
export const TEXT_PIECES: readonly string[] = Array.from({ length: 98 }, (_, at) => ` ${WORDS[at % WORDS.length]}`);

/** The text event of an endless stream. */
export const ENDLESS_PIECE = ' toll';

/** The usage that every answer reports, in tokens. */
export const USED = { input: 24, output: 99 };

/**
 * Events of a timed stream, also after translation. Around the text, chat has the role and the finish reason (`[DONE]`
 * and a usage chunk are extra); messages has the start and end of message and block, and one event with the stop
 * reason; Responses has four events on either side.
 */
export const STREAM_EVENTS: Readonly<Record<Protocol, number>> = {
  chat: TEXT_PIECES.length + 2,
  messages: TEXT_PIECES.length + 5,
  responses: TEXT_PIECES.length + 8,
};
