/** Reads Bedrock's refusals: the exception that a header names, and a body that clients of messages understand. */
import { readErrorBody } from '../../protocols/answer/error-body.ts';
import { headerOf } from '../../upstream/response-head.ts';
import type { Refusal } from '../exchanges/chained-exchange.ts';
import { asAnthropic as renderAsAnthropic } from '../hosted/anthropic-error.ts';

/** `ThrottlingException`: the header has it before a colon and an address. Empty: not named. */
export function exceptionOf({ head }: Refusal): string {
  return (headerOf(head, 'x-amzn-errortype') ?? '').split(':', 1)[0]?.trim() ?? '';
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

/** Statuses that say something else than their exception means. */
const MEANT: ReadonlyMap<string, number> = new Map([
  ['ServiceQuotaExceededException', 429],
  // A custom model that is being loaded.
  ['ModelNotReadyException', 529],
]);

const WRAPPED = /^The model returned the following errors: /;

/**
 * The refusal as Anthropic would have written it, with the exception as `code`. InvokeModel writes `{"message":…}`, and
 * puts the model's own error into the message.
 */
export function asAnthropic(refusal: Refusal): Refusal {
  const { message, error } = readErrorBody(refusal.body);
  const text = error?.Message;
  const words = (message === '' && typeof text === 'string' ? text : message).replace(WRAPPED, '');
  const exception = exceptionOf(refusal);
  const status = MEANT.get(exception) ?? refusal.head.status;
  return renderAsAnthropic(refusal, { words, status, ...(exception === '' ? {} : { code: exception }) });
}
