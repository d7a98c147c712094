/** Parses a non-streamed chat completion into the events of an equivalent stream, and parses error bodies. */
import type { GenerationEvent } from '../../../generation/event.ts';
import type { UpstreamError } from '../../answer/error-body.ts';
import { describeError, type ErrorBody, readErrorBody } from '../../answer/error-body.ts';
import { withRetryDelay } from '../../answer/retry-details.ts';
import { asArray, asCount, asObject, asText, parseObject } from '../../json.ts';
import { findError } from '../stream/stream-of-answer.ts';
import { AnswerReader } from './parse-stream.ts';

/**
 * The body of a 200 as events, up to `end`. An error body gives one `error`; anything else that is not a chat
 * completion gives one `malformed`. An answer without a `finish_reason` still counts as complete, because its whole body
 * was received.
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
  // Azure omits the message of an answer that its filter stopped.
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
  return [{ kind: 'malformed', message }];
}

/** Never throws. `message` is not scrubbed. Wire reference A.9 and C.6. */
export function readError(body: Buffer): UpstreamError {
  const outer = readErrorBody(body);
  const inner = readForwarded(outer);
  const { message, code, error: object } = inner ?? outer;
  const word = code ?? outer.code ?? flagOf(outer);
  const error = withRetryDelay(describeError(message, word, asText(object?.param)), object);
  if (error.condition !== 'context_overflow') return error;
  return {
    ...error,
    promptTokens: error.promptTokens ?? countOf(outer, 'n_prompt_tokens'),
    tokensMax: error.tokensMax ?? countOf(outer, 'n_ctx'),
  };
}

/** OpenRouter only reports that its provider failed; the provider's body is in `metadata.raw`, often a JSON string. */
function readForwarded({ error }: ErrorBody): ErrorBody | null {
  const raw = asText(asObject(error?.metadata)?.raw);
  const inner = raw === null ? null : readErrorBody(Buffer.from(raw));
  return inner === null || inner.message === '' ? null : inner;
}

/** OpenRouter's word for a prompt that its moderation flagged, which it tells by members alone; null: none. */
function flagOf({ error }: ErrorBody): string | null {
  return asText(asObject(error?.metadata)?.flagged_input) === null ? null : 'content_policy_violation';
}

/** llama.cpp reports token counts in members of the error object. */
function countOf({ error }: ErrorBody, member: string): number | null {
  const count = asCount(error?.[member]);
  return typeof count === 'number' ? count : null;
}
