/** Owns reading a chat completion in one piece, as the events that a stream of the same content makes. */
import type { GenerationEvent } from '../../generation/event.ts';
import { asArray, asObject, parseObject } from '../json.ts';
import { AnswerReader } from './answer-reader.ts';
import { findError } from './find-error.ts';

/**
 * The body of a 200 as events, up to `end`. An error in disguise is one `error`; anything else that is no chat completion is
 * one `nonsense`. An answer without a `finish_reason` is whole all the same: its body came whole.
 */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const json = body.toString();
  const answer = parseObject(json);
  if (answer === null) return refuse('the answer is not a JSON object');
  const [first] = asArray(answer.choices);
  if (first === undefined) {
    const error = findError(answer, '');
    return error === null ? refuse('the answer has no choices') : [error];
  }
  const choice = asObject(first);
  // Azure leaves the message of an answer out that its filter stopped.
  const isFiltered = choice?.finish_reason === 'content_filter';
  if (asObject(choice?.message) === null && !isFiltered) return refuse('the answer has no message');
  const reader = new AnswerReader();
  reader.readChunk(answer, 'message', json);
  reader.close();
  const events = reader.queue.take();
  const last = events.at(-1);
  return last === undefined || last.kind === 'end' ? events : [last];
}

function refuse(message: string): readonly GenerationEvent[] {
  return [{ kind: 'nonsense', message }];
}
