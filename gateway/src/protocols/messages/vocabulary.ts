/** Owns how the messages format says that a call failed: error bodies, the in-band error, the keep-alive. Contract, 5 and 6. */
import type { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';

/** Allowed at any time after the headers; SDKs skip it. */
export const KEEP_ALIVE = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

/** `{"type":"error","error":{"type","message"},"request_id"}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const { type } = FAILURE_KINDS[failure.kind].messages;
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
