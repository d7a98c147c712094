/** Owns the OpenAPI descriptions of the headers that the gateway adds to its answers. */
import type { ProtocolName } from '../../protocols/protocol.ts';
import { count, type OpenapiPart, text } from './schema-parts.ts';

const SORTS = {
  requests: { of: 'Requests per minute', unit: 'requests' },
  tokens: { of: 'Tokens per minute', unit: 'tokens' },
} as const;
type Sort = keyof typeof SORTS;

/** What the caller's own limits leave (contract, 8). The provider's limits are never told. */
const LIMIT_HEADERS: { readonly [protocol in ProtocolName]: OpenapiPart } = {
  chat: describeLimits(
    (member, sort) => `x-ratelimit-${member}-${sort}`,
    { type: 'string', pattern: '^([0-9]+h)?([0-9]+m)?[0-9]+(s|ms)$' },
    'In how long the limit is whole again, such as `6m0s` or `120ms`.',
  ),
  messages: describeLimits(
    (member, sort) => `anthropic-ratelimit-${sort}-${member}`,
    { type: 'string', format: 'date-time' },
    'When the limit is whole again.',
  ),
};

/** Of each sort: the limit, what it leaves, when it is whole again. */
function describeLimits(
  nameOf: (member: 'limit' | 'remaining' | 'reset', sort: Sort) => string,
  reset: OpenapiPart,
  resetWords: string,
): OpenapiPart {
  const describeSort = (sort: Sort): OpenapiPart => {
    const { of, unit } = SORTS[sort];
    const tightest = `${of} of the tightest limit that binds the call; absent where none does.`;
    return {
      [nameOf('limit', sort)]: { description: tightest, schema: count('The limit.', 1) },
      [nameOf('remaining', sort)]: { description: `How many ${unit} it still leaves.`, schema: count('The rest.') },
      [nameOf('reset', sort)]: { description: resetWords, schema: reset },
    };
  };
  return { ...describeSort('requests'), ...describeSort('tokens') };
}

export const HEADERS: OpenapiPart = {
  'x-request-id': { description: 'Identifies the call; `/app/logs` finds it.', schema: { type: 'string' } },
  'request-id': { description: 'The same id under the name that messages clients read.', schema: { type: 'string' } },
  'x-tollgate-provider': { description: 'The provider that answered.', schema: text('Its name in the configuration.') },
  'x-tollgate-model': { description: 'The model that answered.', schema: text('Its name at the provider.') },
  'x-tollgate-attempts': { description: 'How many attempts the answer took.', schema: count('Attempts.', 1) },
  'x-tollgate-cost-usd': {
    description: 'What the call cost in US dollars. Not on streams, and not where the model has no price.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'x-tollgate-dropped': {
    description: 'Members of the request that the translation into the format of the provider had to leave out.',
    schema: text('Their names, with commas between them.'),
  },
  'x-tollgate-cut': {
    description:
      'The answer in one piece ends where the balance or a budget did not cover more of it; its finish reason is that of a limit of tokens.',
    schema: { const: 'insufficient_quota' },
  },
  'x-should-retry': {
    description: '`false` where the same request would be refused again; absent where the status says what to do.',
    schema: { enum: ['true', 'false'] },
  },
  'x-tollgate-replayed': {
    description: 'The stored answer of an earlier call with the same `Idempotency-Key` and body; it costs nothing.',
    schema: { const: 'true' },
  },
  'x-tollgate-replayed-request-id': {
    description: 'On a stored answer: the request id of the call that it was made for.',
    schema: { type: 'string' },
  },
  'retry-after': {
    description: 'Seconds to wait before the next try; absent where waiting does not help.',
    schema: { type: 'integer', minimum: 0, maximum: 60 },
  },
  ...LIMIT_HEADERS.chat,
  ...LIMIT_HEADERS.messages,
};

/** References to the headers of these names. */
export const pick = (...names: readonly string[]): OpenapiPart =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every answer of a `/v1` path. */
export const V1_HEADERS: OpenapiPart = pick('x-request-id', 'request-id');

/** On every answer that a provider gave. */
export const CALL_HEADERS: OpenapiPart = {
  ...V1_HEADERS,
  ...pick('x-tollgate-provider', 'x-tollgate-model', 'x-tollgate-attempts', 'x-tollgate-cost-usd'),
};

/** What limits leave, on every answer to a call that was weighed against them. */
export function limitHeaders(protocol: ProtocolName): OpenapiPart {
  return pick(...Object.keys(LIMIT_HEADERS[protocol]));
}

/** What limits leave, on every answer to a count of tokens: those of requests alone bind it. */
export const COUNT_LIMIT_HEADERS: OpenapiPart = pick(
  ...Object.keys(LIMIT_HEADERS.messages).filter((name) => name.includes('-requests-')),
);

/** On every answer of a model, which may be stored. */
export function answerHeaders(protocol: ProtocolName): OpenapiPart {
  return {
    ...CALL_HEADERS,
    ...pick('x-tollgate-dropped', 'x-tollgate-cut', 'x-tollgate-replayed', 'x-tollgate-replayed-request-id'),
    ...limitHeaders(protocol),
  };
}
