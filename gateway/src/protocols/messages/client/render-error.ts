/** Owns how the messages format says that a call failed: error bodies, the in-band error, the keep-alive. Contract, 5 and 6. */
import type { CallFailure, TokenCounts } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../../errors/failure-kinds.ts';

/** Allowed at any time after the headers; SDKs skip it. */
export const KEEP_ALIVE = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

/** Types of statuses of upstream's that are kept where its body cannot be. Contract, 5. */
const KEPT_TYPES: ReadonlyMap<number, string> = new Map([
  [404, 'not_found_error'],
  [413, 'request_too_large'],
]);

/**
 * Beside the refusal of `thread`: by it the tool runner of Anthropic's SDK (1.11), which asks for a thread by itself, knows to go
 * on without one.
 */
const THREADLESS = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/** `{"type":"error","error":{"type","message"},"request_id"}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const kept = failure.details.status;
  const type = (kept === undefined ? null : KEPT_TYPES.get(kept)) ?? FAILURE_KINDS[failure.kind].messages.type;
  const { tokens, param } = failure.details;
  const words = tokens === undefined ? failure.message : overContext(tokens);
  const repeated = failure.status('messages') >= 500 ? ` (request id ${requestId})` : '';
  return JSON.stringify({
    type: 'error',
    error: { type, message: `${words}${repeated}`, details: param === 'thread' ? THREADLESS : undefined },
    request_id: requestId,
  });
}

/** The last record of a stream that failed: never followed by `message_stop`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`event: error\ndata: ${renderError(failure, requestId)}\n\n`);
}

/**
 * The words by which Claude Code (2.1.329) knows that it must compact the conversation, or ask for a shorter answer, and from
 * which it reads the numbers. Wire reference C.6.
 */
function overContext({ prompt, output, max }: TokenCounts): string {
  if (prompt === null || max === null) {
    const limit = max === null ? 'more tokens than this model takes' : `more tokens than the maximum of ${max}`;
    return `prompt is too long: ${limit}`;
  }
  if (prompt > max) return `prompt is too long: ${prompt} tokens > ${max} maximum`;
  if (output === null || prompt === max) {
    return `prompt is too long: ${prompt} tokens leave no room for an answer within the maximum of ${max}`;
  }
  const sum = `${prompt} + ${output} > ${max}`;
  return `input length and \`max_tokens\` exceed context limit: ${sum}, decrease input length or \`max_tokens\` and try again`;
}
