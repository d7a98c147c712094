/** Owns the OpenAPI descriptions of the headers that the gateway adds to its answers. */
import { count, type OpenapiPart, text } from './schema-parts.ts';

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
  'x-tollgate-replayed': {
    description: 'The stored answer of an earlier call with the same `Idempotency-Key` and body; it costs nothing.',
    schema: { const: 'true' },
  },
  'x-tollgate-replayed-request-id': {
    description: 'On a stored answer: the request id of the call that it was made for.',
    schema: { type: 'string' },
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 0, maximum: 60 },
  },
};

const pick = (...names: readonly string[]): OpenapiPart =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every answer of a `/v1` path. */
export const V1_HEADERS: OpenapiPart = pick('x-request-id', 'request-id');

/** On every answer that a provider gave. */
export const CALL_HEADERS: OpenapiPart = {
  ...V1_HEADERS,
  ...pick('x-tollgate-provider', 'x-tollgate-model', 'x-tollgate-attempts', 'x-tollgate-cost-usd'),
};

/** On every answer that may be stored. */
export const STORED_ANSWER_HEADERS: OpenapiPart = {
  ...CALL_HEADERS,
  ...pick('x-tollgate-replayed', 'x-tollgate-replayed-request-id'),
};
