/**
 * Renders the headers of a reply and failures as messages of a WebSocket. A client learns from `status` that nothing of
 * the response came; for the codes that Codex understands only in a response, it gets the failed response instead. Source:
 * specification of the Responses API, A.3 and C.4; measured with Codex 0.169.0 (2026-11-23).
 */
import { failureReply } from '../../call/deliver/reply.ts';
import type { CallFailure } from '../../errors/call-failure.ts';
import { newRequestId } from '../../lib/request-id.ts';
import { asObject, asText, type JsonObject, parseObject } from '../../protocols/json.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { type ResponseHead, responseObject } from '../../protocols/responses/shared/response-object.ts';

/** Codex ends the turn well on these, and waits for a rate as long as the message says; with a status it would give up. */
const CODES_OF_RESPONSES = new Set(['insufficient_quota', 'context_length_exceeded']);

/** How Codex finds out how long to wait. */
const WAIT = /try again in \d+ ?s/;

const STOP_HEADER = 'x-codex-promo-message';

/** Headers about the request, not about its connection. */
const HEADERS = /^(?:retry-after|x-request-id|x-should-retry|x-codex-promo-message|x-(?:tollgate|ratelimit)-.*)$/;

function headersOf({ headers }: Response): JsonObject {
  return Object.fromEntries([...headers].filter(([name]) => HEADERS.test(name)));
}

/** The headers of a reply whose events follow, as the event in which OpenAI sends headers. */
export function metadataMessage(reply: Response, streamId: string | null): string {
  return JSON.stringify({ ...laneOf(streamId), type: 'response.metadata', headers: headersOf(reply) });
}

function laneOf(streamId: string | null): JsonObject {
  return streamId === null ? {} : { stream_id: streamId };
}

/**
 * The messages for a request that failed before anything of its response came. `reply`: as it would go by POST. `model`:
 * that was asked for; null: unknown.
 */
export async function failureMessages(
  reply: Response,
  streamId: string | null,
  model: string | null,
): Promise<string[]> {
  const lane = laneOf(streamId);
  const headers = headersOf(reply);
  const error = asObject(parseObject(await reply.text())?.error) ?? {};
  const retryAfter = reply.headers.get('retry-after');
  const waits = error.code === 'rate_limit_exceeded' && retryAfter !== null;
  // A stop in the agent's own form is read with its header.
  const isStop = reply.headers.has(STOP_HEADER);
  if (isStop || (!waits && !CODES_OF_RESPONSES.has(asText(error.code) ?? ''))) {
    return [JSON.stringify({ ...lane, type: 'error', status: reply.status, error, headers })];
  }
  const words = asText(error.message) ?? '';
  const message = waits && !WAIT.test(words) ? `${words}. Please try again in ${retryAfter}s.` : words;
  const id = `resp_${(reply.headers.get('x-request-id') ?? '').slice('req_'.length)}`;
  const createdSeconds = Math.floor(Date.now() / 1_000);
  const events = failedResponse({ id, createdSeconds, model }, { ...error, message }, headers);
  return events.map((event) => JSON.stringify({ ...lane, ...event }));
}

function failedResponse(head: ResponseHead, error: JsonObject, headers: JsonObject): JsonObject[] {
  const { code, message, param } = error;
  return [
    { type: 'response.created', sequence_number: 0, response: responseObject(head, 'in_progress', {}) },
    { type: 'error', sequence_number: 1, code, message, param, error, headers },
    { type: 'response.failed', sequence_number: 2, response: responseObject(head, 'failed', { error }) },
  ];
}

/** The messages for what is no request. */
export function refusalMessages(failure: CallFailure, streamId: string | null): Promise<string[]> {
  return failureMessages(failureReply(failure, responsesClient, newRequestId()), streamId, null);
}

/** The last message of a connection that has lasted long enough: clients open another one at once. */
export const LIMIT_REACHED = JSON.stringify({
  type: 'error',
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'websocket_connection_limit_reached',
    message: 'This WebSocket has reached its time limit. Open another one to continue.',
    param: null,
  },
});
