/** Owns how chat completions says that a call failed: error bodies, the in-band error, the keep-alive. Contract, 5 and 6. */
import type { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';

/** Clients skip SSE comments. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** `{"error":{"message","type","param","code"}}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const { type, code } = FAILURE_KINDS[failure.kind].chat;
  const message = withRequestId(failure, requestId);
  return JSON.stringify({ error: { message, type, param: failure.details.param ?? null, code } });
}

/** The last record of a stream that failed: never followed by `[DONE]`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`data: ${renderError(failure, requestId)}\n\n`);
}

/** The failure's message; a fault that is not the caller's carries the id that support will ask for. */
function withRequestId(failure: CallFailure, requestId: string): string {
  return failure.status('chat') >= 500 ? `${failure.message} (request id ${requestId})` : failure.message;
}
