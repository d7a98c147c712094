/** Renders an error of a cloud that hosts Claude in Anthropic's shape, which clients of messages understand. */
import { readErrorBody } from '../../protocols/answer/error-body.ts';
import type { Refusal } from '../exchanges/chained-exchange.ts';

const TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

/**
 * The refusal as Anthropic would have written it; the same one if it has a type and a message, or no JSON. The cloud's
 * own word for the error is its `code`. `said`: the cloud's words outside the body.
 */
export function asAnthropic(refusal: Refusal, said: { readonly words?: string; readonly code?: string } = {}): Refusal {
  const { message, code: own, error } = readErrorBody(refusal.body);
  if (error === null || (error.type !== undefined && error.message !== undefined)) return refusal;
  const { words = message, code = own } = said;
  const type = TYPES.get(refusal.head.status) ?? 'api_error';
  const rendered = { type, message: words, ...(code === null ? {} : { code }) };
  return { head: refusal.head, body: Buffer.from(JSON.stringify({ type: 'error', error: rendered })) };
}
