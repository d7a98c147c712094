/** Reads Bedrock's refusals: the exception that a header names, and a body that clients understand. */
import { exceptionIn, readError } from '../../../protocols/converse/shared/errors.ts';
import type { ResponseHead } from '../../../upstream/response-head.ts';
import type { Refusal } from '../../exchanges/chained-exchange.ts';
import { asAnthropic } from '../../hosted/anthropic-error.ts';

/** `ThrottlingException`; empty: not named. */
export function exceptionOf({ head }: Refusal): string {
  return exceptionIn(head.headers) ?? '';
}

export function refusesBetas({ head, body }: Refusal): boolean {
  return head.status === 400 && /invalid beta flag/i.test(body.toString('latin1'));
}

/** A refusal of the gateway's own, in Anthropic's shape. `head`: of the response that it takes the place of. */
export function refuse(head: ResponseHead, message: string): Refusal {
  const error = { type: 'invalid_request_error', message };
  // A copy of a parsed head has no headers unless it names them.
  const told = { ...head, headers: head.headers, status: 400 };
  return { head: told, body: Buffer.from(JSON.stringify({ type: 'error', error })) };
}

/**
 * The refusal as Anthropic would have written it, with the exception as `code`, for formats that read the body alone.
 * InvokeModel writes `{"message":…}`, and puts the model's own error into the message.
 */
export function withCode(refusal: Refusal): Refusal {
  const { message, code } = readError(refusal.body, refusal.head.headers);
  return asAnthropic(refusal, { words: message, ...(code === null ? {} : { code }) });
}
