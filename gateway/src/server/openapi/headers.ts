/** Describes the headers that the gateway adds to its responses, and which responses have which. */
import type { ClientProtocolName } from '../../protocols/names.ts';
import { COUNT, is, type OpenapiPart, TEXT, TIME } from './schema.ts';

const SPAN: OpenapiPart = { type: 'string', pattern: '^([0-9]+h)?([0-9]+m)?[0-9]+(s|ms)$' };

/** What remains of the caller's limits (contract, 8). The provider's limits are never sent. */
const LIMIT_HEADERS: { readonly [protocol in ClientProtocolName]: OpenapiPart } = {
  chat: describeLimits((member, unit) => `x-ratelimit-${member}-${unit}`, SPAN),
  messages: describeLimits((member, unit) => `anthropic-ratelimit-${unit}-${member}`, TIME),
};

function describeLimits(nameOf: (member: string, unit: string) => string, reset: OpenapiPart): OpenapiPart {
  const headers = ['requests', 'tokens'].flatMap((unit) => [
    [
      nameOf('limit', unit),
      { description: `${unit} per minute of the tightest limit that applies; absent without one.`, schema: COUNT },
    ],
    [nameOf('remaining', unit), { description: `The ${unit} that it leaves.`, schema: COUNT }],
    [nameOf('reset', unit), { description: 'When, or after how long, it is fully restored.', schema: reset }],
  ]);
  return Object.fromEntries(headers);
}

export const HEADERS: OpenapiPart = {
  'x-request-id': { description: 'The id of the request; the log finds it.', schema: TEXT },
  'request-id': { description: 'The same id under the name that messages clients read.', schema: TEXT },
  'x-tollgate-provider': { description: 'The provider that answered.', schema: TEXT },
  'x-tollgate-model': { description: 'The name of the model at the provider.', schema: TEXT },
  'x-tollgate-attempts': { description: 'How many attempts the answer took.', schema: COUNT },
  'x-tollgate-cost-usd': {
    description: 'Cost in US dollars. Not on streams, and not where the model has no price.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'x-tollgate-dropped': {
    description: 'Members that the translation into the format of the provider left out, separated by commas.',
    schema: TEXT,
  },
  'x-tollgate-cut': {
    description: 'The balance or a budget did not cover more of the answer, which ends as at a limit of tokens.',
    schema: is('insufficient_quota'),
  },
  'x-should-retry': {
    description: '`false` where the same request would be refused again; absent where the status says what to do.',
    schema: { enum: ['true', 'false'] },
  },
  'x-tollgate-replayed': {
    description: 'The stored answer of an earlier request with the same `Idempotency-Key` and body; it costs nothing.',
    schema: is('true'),
  },
  'x-tollgate-replayed-request-id': { description: 'The id of that earlier request.', schema: TEXT },
  'retry-after': {
    description: 'Seconds to wait before the next try; absent where waiting does not help.',
    schema: { ...COUNT, maximum: 60 },
  },
  ...LIMIT_HEADERS.chat,
  ...LIMIT_HEADERS.messages,
};

/** References to the headers with these names. */
export const pick = (...names: readonly string[]): OpenapiPart =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every response of a `/v1` path. */
export const V1_HEADERS: OpenapiPart = pick('x-request-id', 'request-id');

const CALL_HEADERS: OpenapiPart = {
  ...V1_HEADERS,
  ...pick('x-tollgate-provider', 'x-tollgate-model', 'x-tollgate-attempts', 'x-tollgate-cost-usd'),
};

export const limitHeaders = (protocol: ClientProtocolName): OpenapiPart =>
  pick(...Object.keys(LIMIT_HEADERS[protocol]));

/** Only request limits apply to a token count. */
export const COUNT_LIMIT_HEADERS: OpenapiPart = pick(
  ...Object.keys(LIMIT_HEADERS.messages).filter((name) => name.includes('-requests-')),
);
export const COUNT_HEADERS: OpenapiPart = { ...CALL_HEADERS, ...COUNT_LIMIT_HEADERS };

/** On every model response, which may be a stored one. */
export const answerHeaders = (protocol: ClientProtocolName): OpenapiPart => ({
  ...CALL_HEADERS,
  ...pick('x-tollgate-dropped', 'x-tollgate-cut', 'x-tollgate-replayed', 'x-tollgate-replayed-request-id'),
  ...limitHeaders(protocol),
});
