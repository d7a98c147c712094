/** Owns how the messages format says that a call failed: error bodies, the in-band error, the keep-alive. Contract, 5 and 6. */
import type { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';

/** Allowed at any time after the headers; SDKs skip it. */
export const KEEP_ALIVE = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

/** Types of statuses of upstream's that are kept where its body cannot be. Contract, 5. */
const KEPT_TYPES: ReadonlyMap<number, string> = new Map([
  [404, 'not_found_error'],
  [413, 'request_too_large'],
]);

/** `{"type":"error","error":{"type","message"},"request_id"}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const kept = failure.details.status;
  const type = (kept === undefined ? null : KEPT_TYPES.get(kept)) ?? FAILURE_KINDS[failure.kind].messages.type;
  const repeated = failure.status('messages') >= 500 ? ` (request id ${requestId})` : '';
  return JSON.stringify({
    type: 'error',
    error: { type, message: `${failure.message}${repeated}` },
    request_id: requestId,
  });
}

/** The last record of a stream that failed: never followed by `message_stop`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`event: error\ndata: ${renderError(failure, requestId)}\n\n`);
}
