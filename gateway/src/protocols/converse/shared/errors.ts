/** Reads Bedrock's errors: of a response, and inside a stream. Source: provider reference C.6. */
import type { GenerationEvent } from '../../../generation/event.ts';
import { describeError, readErrorBody, type UpstreamError } from '../../answer/error-body.ts';
import { asText, parseObject } from '../../json.ts';
import type { HeaderLines } from '../../upstream-protocol.ts';

/** Whether the message is the model's own, in the words of its vendor. */
const WRAPPED = /^The model returned the following errors: /;

/** The statuses of exceptions by their names in a stream, where there is no other status. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['throttlingException', 429],
  ['validationException', 400],
  ['modelTimeoutException', 408],
  ['modelStreamErrorException', 424],
  ['internalServerException', 500],
  ['serviceUnavailableException', 503],
]);

/**
 * Never throws, whatever the bytes. The header names the exception; some refusals of Bedrock have none. `message` is not
 * scrubbed.
 */
export function readError(body: Buffer, headers: HeaderLines = []): UpstreamError {
  const { message, code, error } = readErrorBody(body);
  const words = message === '' ? (asText(error?.Message) ?? '') : message;
  return describeError(words.replace(WRAPPED, ''), exceptionIn(headers) ?? code);
}

/** The exception that a header names, often before a colon and an address; null: none does. */
export function exceptionIn(headers: HeaderLines): string | null {
  const value = headers.find(([name]) => name.toLowerCase() === 'x-amzn-errortype')?.[1] ?? '';
  return asText(value.split(':', 1)[0]?.trim());
}

/** The event for an exception in a stream, whose data is `json`. */
export function parseException(name: string, json: string): GenerationEvent {
  const payload = parseObject(json);
  const original = asText(payload?.originalMessage);
  const message = asText(payload?.message) ?? asText(payload?.Message) ?? 'upstream gave no reason';
  return {
    kind: 'error',
    type: name,
    message: (original === null ? message : `${message}: ${original}`).replace(WRAPPED, ''),
    status: STATUSES.get(name) ?? null,
  };
}
