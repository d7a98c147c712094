/** Reads Bedrock's refusals: the exception that a header names, and a body that clients understand. */
import { exceptionIn, readError } from '../../protocols/converse/shared/errors.ts';
import { headerOf } from '../../upstream/response-head.ts';
import type { Refusal } from '../exchanges/chained-exchange.ts';
import { asAnthropic } from '../hosted/anthropic-error.ts';

/** `ThrottlingException`; empty: not named. */
export function exceptionOf({ head }: Refusal): string {
  return exceptionIn(head.headers) ?? '';
}

export function refusesBetas({ head, body }: Refusal): boolean {
  return head.status === 400 && /invalid beta flag/i.test(body.toString('latin1'));
}

const DAILY_PAUSE_SECONDS = '3600';

/** A daily limit ends at an hour that no header names: the target rests for an hour at a time. */
export function withDelay(refusal: Refusal): Refusal {
  const { head, body } = refusal;
  const isDaily = head.status === 429 && /tokens per day/i.test(body.toString('latin1'));
  if (!isDaily || headerOf(head, 'retry-after') !== null) return refusal;
  return { head: { ...head, headers: [...head.headers, ['retry-after', DAILY_PAUSE_SECONDS]] }, body };
}

/**
 * The refusal as Anthropic would have written it, with the exception as `code`, for formats that read the body alone.
 * InvokeModel writes `{"message":…}`, and puts the model's own error into the message.
 */
export function withCode(refusal: Refusal): Refusal {
  const { message, code } = readError(refusal.body, refusal.head.headers);
  return asAnthropic(refusal, { words: message, ...(code === null ? {} : { code }) });
}
