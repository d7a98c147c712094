/** Renders failed calls as OpenAI's error bodies and in-band stream errors, for all its formats but Responses. Contract, 5 and 6. */
import type { CallFailure } from '../../errors/call-failure.ts';
import { describeFailure, ERROR_WORDS } from './error-words.ts';

/** The HTTP status of a failure: upstream's, if it is passed on. */
export function statusOf({ kind, details }: CallFailure): number {
  return details.status ?? ERROR_WORDS[kind][0];
}

/** Clients skip SSE comments. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** `{"error":{"message","type","param","code","hint"}}`, the last where there is one; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const [, type, code] = ERROR_WORDS[failure.kind];
  const message = describeFailure(failure, requestId, statusOf(failure));
  return JSON.stringify({
    error: {
      message,
      type,
      param: failure.details.param ?? null,
      code: failure.details.code ?? code,
      hint: failure.details.hint,
    },
  });
}

/** The last record of a stream that failed: never followed by `[DONE]`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`data: ${renderError(failure, requestId)}\n\n`);
}
