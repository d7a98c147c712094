/** Describes parameters and responses that the paths of the OpenAPI document share: JSON, and every error status. */
import { pick, V1_HEADERS } from './response-schemas.ts';
import { type OpenapiPart, refTo } from './schema.ts';

export const parameter = (
  name: string,
  where: 'header' | 'path' | 'query',
  description: string,
  schema: OpenapiPart,
): OpenapiPart => {
  return { name, in: where, required: where === 'path', description, schema };
};

const CONDITIONS: Readonly<Record<string, string>> = {
  400: 'Body is invalid or a parameter is out of range. Code `invalid_request_error`.',
  401: 'API key missing or invalid. Code `unauthorized`.',
  403: 'Key or account cannot access the model, no target of it has the required data tags, or the address is not on the key’s list. Code `forbidden`.',
  404: 'The path is wrong, a messages request names an unknown model, or the provider lacks content that the request refers to.',
  405: 'Another method than those in the `allow` header.',
  408: 'The body did not arrive in time.',
  409: 'The request with this `Idempotency-Key` still runs, or its answer cannot be given again.',
  413: 'The body is too large.',
  415: 'The body’s encoding is not supported.',
  422: 'The provider refused the content.',
  429:
    'A limit of the key, its end user, workspace or account, or of the model (type `rate_limit_error`; requests and tokens per minute, concurrent requests): ' +
    'wait for `retry-after` seconds. Or a budget or the balance does not cover the request (chat `insufficient_quota`, messages `billing_error`), with ' +
    '`x-should-retry: false`: waiting for seconds does not help; OpenCode and Qwen Code get 402 instead. Or the provider has too many requests. Code `rate_limit_exceeded`.',
  431: 'The header block is too large.',
  500: 'Gateway or upstream failure, with the request id: also an account, model or price that the operator must correct. Code `internal_error`.',
  503: 'Draining, over capacity, or the gateway’s own store is not available.',
  504: 'The provider timed out.',
  529: 'The provider is overloaded.',
};
const WITH_RETRY_AFTER = ['409', '429', '503', '529'];
const WITH_SHOULD_RETRY = ['401', '403', '404', '409', '429', '500'];
/** Of requests with a body. */
export const BODY_STATUSES = [
  '400',
  '401',
  '403',
  '404',
  '405',
  '408',
  '413',
  '415',
  '422',
  '429',
  '431',
  '500',
  '503',
];
/** Of requests without one. */
export const READ_STATUSES = ['401', '403', '404', '405', '431', '500', '503'];

/** The responses with these statuses in one format. `limits`: the limit headers of a 429. */
export function errors(
  statuses: readonly string[],
  schema: 'ChatError' | 'MessagesError' | 'GeminiError',
  limits: OpenapiPart,
): OpenapiPart {
  const responseOf = (status: string): OpenapiPart => ({
    ...json(CONDITIONS[status] ?? '', schema),
    headers: {
      ...V1_HEADERS,
      ...(WITH_RETRY_AFTER.includes(status) ? pick('retry-after') : {}),
      ...(WITH_SHOULD_RETRY.includes(status) ? pick('x-should-retry') : {}),
      ...(status === '429' ? limits : {}),
    },
  });
  return Object.fromEntries(statuses.map((status) => [status, responseOf(status)]));
}

export function json(description: string, schema: string, headers: OpenapiPart = {}): OpenapiPart {
  return { description, headers, content: { 'application/json': { schema: refTo(schema) } } };
}
