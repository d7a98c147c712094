/** Turns a whole chat-completions answer into the records of a stream, and finds the error in an answer or a chunk. */
import type { GenerationEvent } from '../../../generation/event.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { messageOf, minimaxError, statusOf, typeOf } from '../shared/usage.ts';

/** The records, including `[DONE]`; null: the body is not an answer. Numbers that a double cannot hold are rounded. */
export function streamOfAnswer(body: Buffer): Buffer | null {
  const answer = parseObject(body.toString());
  const choices = asArray(answer?.choices);
  if (answer === null || choices.length === 0 || findError(answer, '') !== null) return null;
  const { choices: _, usage, ...head } = answer;
  const record = (members: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...members })}\n\n`;
  let text = '';
  for (const [place, found] of choices.entries()) {
    const choice = asObject(found);
    if (choice === null) return null;
    const { message, finish_reason, index = place, ...rest } = choice;
    text += record({ choices: [{ index, delta: deltaOf(message), finish_reason: null, ...rest }] });
    text += record({ choices: [{ index, delta: {}, finish_reason: asText(finish_reason) ?? 'stop' }] });
  }
  if (asObject(usage) !== null) text += record({ choices: [], usage });
  return Buffer.from(`${text}data: [DONE]\n\n`);
}

/** In a stream each call has an `index`. */
function deltaOf(message: unknown): object {
  const { tool_calls, ...others } = asObject(message) ?? {};
  const calls = asArray(tool_calls).map((call, index) => ({ index, ...asObject(call) }));
  return { role: 'assistant', ...others, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

type ErrorEvent = Extract<GenerationEvent, { kind: 'error' }>;

/**
 * The error in a chunk: its truthy member `error`, as the official clients check it, or the whole chunk if the record's
 * name (`event: error`) or its member `object` marks it as an error. Null: none.
 */
export function findError(chunk: JsonObject, recordName: string): ErrorEvent | null {
  const error = chunk.error;
  if (error !== undefined && error !== null && error !== false && error !== '') return errorEvent(error);
  if (recordName === 'error' || chunk.object === 'error') return errorEvent(chunk);
  const failed = chunk.base_resp === undefined ? null : minimaxError(chunk);
  return failed === null ? null : errorEvent(failed);
}

function errorEvent(error: unknown): ErrorEvent {
  return { kind: 'error', type: typeOf(error), message: messageOf(error), status: statusOf(error) };
}
