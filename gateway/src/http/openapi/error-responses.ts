/** Owns the OpenAPI schemas of both error bodies and the responses per status. The table itself is kept by the errors. */
import { pick, V1_HEADERS } from './response-headers.ts';
import { type OpenapiPart, orNull, refTo, shape, text } from './schema-parts.ts';

export const ERROR_SCHEMAS: OpenapiPart = {
  ChatError: shape(
    'The error body of chat completions and of the model list.',
    {
      error: shape(
        'What went wrong.',
        {
          message: text('In words.'),
          type: text('Kind.'),
          param: orNull(text('The member at fault.')),
          code: orNull(text('Code.')),
        },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
  ),
  MessagesError: shape(
    'The error body of the messages endpoints.',
    {
      type: { const: 'error' },
      error: shape('What went wrong.', { type: text('Kind.'), message: text('In words.') }, ['type', 'message']),
      request_id: orNull(text('The id under which the log finds the call.')),
    },
    ['type', 'error'],
  ),
};

const CONDITIONS: Readonly<Record<string, string>> = {
  400: 'Body is invalid or a parameter is out of range. Code `invalid_request_error`.',
  401: 'API key missing or invalid. Code `unauthorized`.',
  403: 'Key or account cannot access the model, or the address is not on the key’s list. Code `forbidden`.',
  404: 'The provider does not know what was asked for, or the address is wrong.',
  405: 'Another method than those in the `allow` header.',
  408: 'The body did not arrive in time.',
  409: 'The call with this `Idempotency-Key` still runs, or cannot be answered again.',
  413: 'The body is too large.',
  415: 'The body’s encoding is not supported.',
  422: 'The provider refused the content.',
  429:
    'A limit of the key, its end user, workspace or account, or of the model (type `rate_limit_error`; requests and tokens per minute, calls at once): ' +
    'wait for `retry-after` seconds. Or a budget or the balance does not cover the call (chat `insufficient_quota`, messages `billing_error`), with ' +
    '`x-should-retry: false`: waiting for seconds does not help. Or the provider has too many calls. Code `rate_limit_exceeded`.',
  431: 'The header block is too large.',
  500:
    'Gateway or upstream failure; the message repeats the request id. Also a model without a price where a balance or a budget pays. ' +
    'Code `internal_error`.',
  503: 'Draining, over capacity, or the gateway’s own store is away.',
  504: 'The provider timed out.',
  529: 'The provider is overloaded.',
};
const WITH_RETRY_AFTER = ['409', '429', '503', '529'];
const WITH_SHOULD_RETRY = ['401', '403', '404', '409', '429', '500'];
const COMMON = ['400', '401', '403', '404', '405', '408', '413', '415', '422', '429', '431', '500', '503'];

export const CHAT_ERROR_STATUSES: readonly string[] = [...COMMON, '409'];
export const COUNT_ERROR_STATUSES: readonly string[] = [...COMMON, '504', '529'];
export const MESSAGES_ERROR_STATUSES: readonly string[] = [...COUNT_ERROR_STATUSES, '409'];
/** Of endpoints without a body. */
export const READ_ERROR_STATUSES: readonly string[] = ['401', '403', '404', '405', '431', '500', '503'];

/** The `responses` members of the statuses, in the error shape of the family. `limits`: what limits leave, on a 429. */
export function errorResponses(
  statuses: readonly string[],
  schema: 'ChatError' | 'MessagesError',
  limits: OpenapiPart = {},
): OpenapiPart {
  const entries = statuses.map((status): [string, OpenapiPart] => [
    status,
    {
      description: CONDITIONS[status] ?? 'Failed.',
      headers: {
        ...V1_HEADERS,
        ...(WITH_RETRY_AFTER.includes(status) ? pick('retry-after') : {}),
        ...(WITH_SHOULD_RETRY.includes(status) ? pick('x-should-retry') : {}),
        ...(status === '429' ? limits : {}),
      },
      content: { 'application/json': { schema: refTo(schema) } },
    },
  ]);
  return Object.fromEntries(entries);
}
