/**
 * Renders failed calls in the messages format: error bodies, the in-band error, and the keep-alive record. Contract, 5
 * and 6.
 */
import type { CallFailure, TokenCounts } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../../errors/failure-kinds.ts';

/** Allowed at any time after the headers; SDKs ignore it. */
export const KEEP_ALIVE = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

/** Error types for upstream statuses that are kept although the upstream body is not. Contract, 5. */
const KEPT_TYPES: ReadonlyMap<number, string> = new Map([
  [404, 'not_found_error'],
  [413, 'request_too_large'],
]);

/**
 * Added to the refusal of `thread`: the tool runner of Anthropic's SDK (1.11), which requests a thread by default,
 * recognizes it and continues without one.
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

/** The last record of a failed stream; never followed by `message_stop`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`event: error\ndata: ${renderError(failure, requestId)}\n\n`);
}

/**
 * The wording by which Claude Code (2.1.329) detects that it must compact the conversation or request a shorter
 * response, and from which it reads the numbers. Wire reference C.6.
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
