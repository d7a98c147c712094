/**
 * Builds the schemas of responses and of their headers: model responses in both formats, the model list, the calling
 * key, errors.
 */
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import {
  COUNT,
  each,
  FLAG,
  is,
  listOf,
  NANO_USD,
  type OpenapiPart,
  object,
  oneOf,
  orNull,
  refTo,
  TEXT,
  TIME,
} from './schema.ts';

const FINISH_REASONS = oneOf('stop', 'length', 'tool_calls', 'content_filter', 'function_call');
const STOP_REASONS = oneOf(
  ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded'],
);
const EVENTS = oneOf(
  ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
  ...['message_delta', 'message_stop', 'ping', 'error'],
);
const HINT = object(
  { ...each(TEXT, 'kind', 'sentence'), 'resets_at?': TIME },
  'Why the request was refused or failed, as far as the holder of the key may know. For people; absent where `message` says it all.',
);
const USAGE = 'Tokens. The log is the record of billing, not this object.';

export const RESPONSE_SCHEMAS: OpenapiPart = {
  ChatCompletion: object({
    ...each(TEXT, 'id', 'model'),
    created: COUNT,
    object: is('chat.completion'),
    choices: listOf(object({ index: COUNT, message: refTo('ChatAnswer'), finish_reason: FINISH_REASONS })),
    'usage?': refTo('ChatUsage'),
  }),
  ChatAnswer: object({
    role: is('assistant'),
    content: orNull(TEXT),
    'refusal?': orNull(TEXT),
    'reasoning_content?': TEXT,
    'tool_calls?': listOf(refTo('ChatToolCall')),
  }),
  ChatCompletionChunk: object(
    {
      ...each(TEXT, 'id', 'model'),
      created: COUNT,
      object: is('chat.completion.chunk'),
      choices: listOf(
        object({ index: COUNT, delta: object({ 'content?': orNull(TEXT) }), finish_reason: orNull(FINISH_REASONS) }),
      ),
      'usage?': orNull(refTo('ChatUsage')),
    },
    '`id` is the same in every chunk of one stream; `choices` is empty in the usage chunk.',
  ),
  ChatToolCall: object(
    {
      id: TEXT,
      type: oneOf('function', 'custom'),
      'function?': object(each(TEXT, 'name', 'arguments')),
      'custom?': object(each(TEXT, 'name', 'input')),
    },
    'A tool call. Its arguments are unvalidated: check them before you act on them.',
  ),
  ChatUsage: object(
    {
      ...each(COUNT, 'prompt_tokens', 'completion_tokens', 'total_tokens'),
      'prompt_tokens_details?': orNull(object({ 'cached_tokens?': COUNT })),
      'completion_tokens_details?': orNull(object({ 'reasoning_tokens?': COUNT })),
    },
    USAGE,
  ),
  ChatError: object({
    error: object({ ...each(TEXT, 'message', 'type'), ...each(orNull(TEXT), 'param', 'code'), 'hint?': HINT }),
  }),

  Response: object(
    {
      ...each(TEXT, 'id', 'model'),
      object: is('response'),
      created_at: COUNT,
      status: oneOf('completed', 'incomplete'),
      output: listOf(object({ type: TEXT })),
      'incomplete_details?': orNull(object({ reason: TEXT })),
      usage: orNull(refTo('ResponseUsage')),
    },
    'Items of `output` are such as message, reasoning, function_call.',
  ),
  Compaction: object({
    id: TEXT,
    object: is('response.compaction'),
    created_at: COUNT,
    output: listOf(object({ type: TEXT })),
    usage: orNull(refTo('ResponseUsage')),
  }),
  ResponseUsage: object(
    {
      ...each(COUNT, 'input_tokens', 'output_tokens', 'total_tokens'),
      'input_tokens_details?': orNull(object({ 'cached_tokens?': COUNT })),
      'output_tokens_details?': orNull(object({ 'reasoning_tokens?': COUNT })),
    },
    USAGE,
  ),
  ResponseDeletion: object({ id: TEXT, object: is('response'), deleted: { type: 'boolean' } }),
  ResponseItems: object({ object: is('list'), data: listOf(object({ type: TEXT })), has_more: { type: 'boolean' } }),
  ResponseEvent: object({ type: TEXT }, 'The `data` of one event; `event:` repeats its type.'),

  GeminiAnswer: object(
    {
      candidates: listOf(
        object({
          content: object({ role: is('model'), parts: listOf(object({}, 'Such as text, functionCall, inlineData.')) }),
          'finishReason?': TEXT,
          'index?': COUNT,
        }),
      ),
      'usageMetadata?': object(
        {
          ...each(COUNT, 'promptTokenCount?', 'candidatesTokenCount?', 'totalTokenCount?'),
          ...each(COUNT, 'cachedContentTokenCount?', 'thoughtsTokenCount?'),
        },
        `${USAGE} Thoughts are no part of \`candidatesTokenCount\`.`,
      ),
      ...each(TEXT, 'modelVersion?', 'responseId?'),
    },
    'An answer, or a chunk of one; the last chunk has the finish reason.',
  ),
  GeminiCount: object({ totalTokens: COUNT }),
  GeminiModel: object({
    name: TEXT,
    ...each(TEXT, 'displayName?', 'version?'),
    ...each(COUNT, 'inputTokenLimit?', 'outputTokenLimit?'),
    supportedGenerationMethods: listOf(TEXT),
  }),
  GeminiModelList: object(
    { models: listOf(refTo('GeminiModel')), 'nextPageToken?': TEXT },
    'The models that the calling key may use. It continues at `pageToken`.',
  ),
  GeminiError: object({
    error: object({
      code: COUNT,
      ...each(TEXT, 'message', 'status'),
      'details?': listOf(object({}, '`RetryInfo` says when to ask again; `QuotaFailure`: waiting does not help.')),
      'hint?': HINT,
    }),
  }),

  Message: object({
    ...each(TEXT, 'id', 'model'),
    type: is('message'),
    role: is('assistant'),
    content: listOf(refTo('MessageBlock')),
    stop_reason: orNull(STOP_REASONS),
    'stop_sequence?': orNull(TEXT),
    usage: refTo('MessageUsage'),
  }),
  MessageBlock: object(
    { type: TEXT, 'text?': TEXT },
    'Such as text, image, document, tool_use, tool_result, thinking.',
  ),
  MessageUsage: object(
    {
      ...each(COUNT, 'input_tokens', 'output_tokens'),
      ...each(orNull(COUNT), 'cache_creation_input_tokens?', 'cache_read_input_tokens?'),
    },
    `${USAGE} Cache reads and writes are no part of \`input_tokens\`.`,
  ),
  MessageEvent: object({ type: EVENTS }, 'The `data` of one event; `event:` repeats its type.'),
  CountTokensResult: object({ input_tokens: COUNT }),
  ResponseTokens: object({ object: is('response.input_tokens'), input_tokens: COUNT }),
  MessagesError: object({
    type: is('error'),
    error: object({ ...each(TEXT, 'type', 'message'), 'hint?': HINT }),
    'request_id?': orNull(TEXT),
  }),

  Model: object({
    ...each(TEXT, 'id', 'owned_by?', 'display_name?'),
    ...each(is('model'), 'object', 'type'),
    'created?': COUNT,
    'created_at?': TIME,
    ...each(orNull(COUNT), 'max_input_tokens?', 'max_tokens?'),
    'protocols?': listOf(oneOf(...CLIENT_PROTOCOL_NAMES)),
  }),
  Embeddings: object(
    {
      object: is('list'),
      data: listOf(
        object({
          'object?': is('embedding'),
          'index?': COUNT,
          embedding: {
            anyOf: [listOf({ type: 'number' }), { ...TEXT, description: 'Base64 of little-endian 32-bit floats.' }],
          },
        }),
      ),
      model: TEXT,
      'usage?': object(each(COUNT, 'prompt_tokens?', 'total_tokens?')),
    },
    'Vectors, as the provider wrote them; base64 where `encoding_format` asks for it.',
  ),
  Completion: object({
    id: TEXT,
    object: TEXT,
    created: COUNT,
    model: TEXT,
    choices: listOf(object({ text: TEXT, index: COUNT, 'logprobs?': {}, finish_reason: orNull(TEXT) })),
    'usage?': orNull(object(each(COUNT, 'prompt_tokens', 'completion_tokens?', 'total_tokens'))),
  }),
  Moderations: object({
    'id?': TEXT,
    model: TEXT,
    results: listOf(object({ flagged: FLAG, categories: object({}), category_scores: object({}) })),
  }),
  Ranking: object(
    {
      'id?': TEXT,
      'model?': TEXT,
      results: listOf(
        object({ index: COUNT, relevance_score: { type: 'number' }, 'document?': object({ 'text?': TEXT }) }),
      ),
      'meta?': object({ 'billed_units?': object({ 'search_units?': { type: 'number' } }) }),
      'usage?': object({ 'total_tokens?': COUNT }),
    },
    'In the order of the provider. `meta.billed_units` where it counts searches, `usage` where it counts tokens.',
  ),

  ModelList: object(
    {
      object: is('list'),
      data: listOf(refTo('Model')),
      has_more: FLAG,
      ...each(orNull(TEXT), 'first_id?', 'last_id?'),
    },
    'The models that the calling key may use. Where `limit` cut the list, it continues after `last_id`.',
  ),
  Probe: object({}),

  Key: object(
    {
      object: is('key'),
      ...each(TEXT, 'id', 'name', 'workspace', 'account'),
      mode: oneOf('postpaid', 'prepaid'),
      balance_nano_usd: orNull(NANO_USD),
      scopes: listOf(oneOf('inference', 'usage', 'admin')),
      models: { ...orNull(listOf(TEXT)), description: 'The models that it may use, with * as a wildcard.' },
      strict: { ...FLAG, description: 'Requests whose translation would drop a member are refused.' },
      holds: { ...oneOf('adaptive', 'strict'), description: 'A stream reserves money in slices, or its maximum cost.' },
      expires_at: orNull(TIME),
      usage: {
        ...orNull(object(each(refTo('KeyUsage'), 'day', 'month'))),
        description: 'Null: not loaded yet; retry.',
      },
      limits: { ...listOf(refTo('KeyLimit')), description: 'Limits of models and end users are not listed.' },
    },
    'The calling key, and the limits of the key, its workspace and its account, which all apply to its requests.',
  ),
  KeyUsage: object(
    {
      starts_at: TIME,
      ...each(COUNT, 'requests', 'input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'),
      cost_nano_usd: NANO_USD,
    },
    "Use since the day or month began in the account's time zone. `output` includes `reasoning`.",
  ),
  KeyLimit: object(
    {
      of: oneOf('key', 'workspace', 'account'),
      id: TEXT,
      ...each(orNull(COUNT), 'rpm', 'tpm', 'concurrency'),
      ...each(orNull(refTo('KeyRate')), 'requests', 'tokens'),
      calls: orNull(object(each(COUNT, 'running', 'remaining'))),
      budget: orNull(refTo('KeyBudget')),
    },
    'Limits, and how much of them all requests that they apply to have used. Null: there is no such limit.',
  ),
  KeyRate: object({ ...each(COUNT, 'used', 'remaining'), resets_at: TIME }),
  KeyBudget: object(
    {
      window: oneOf('day', 'week', 'month', 'total'),
      ...each(NANO_USD, 'amount_nano_usd', 'spent_nano_usd', 'held_nano_usd', 'remaining_nano_usd'),
      ...each(orNull(TIME), 'starts_at', 'resets_at'),
    },
    "A window of the account's time zone. Remaining is the amount less what is spent and held, or 0.",
  ),
};

const SPAN: OpenapiPart = { type: 'string', pattern: '^([0-9]+h)?([0-9]+m)?[0-9]+(s|ms)$' };

/** What remains of the caller's limits (contract, 8): the names of OpenAI, and those of Anthropic. */
const LIMIT_HEADERS: OpenapiPart = {
  ...describeLimits(CLIENT_PROTOCOLS.chat, SPAN),
  ...describeLimits(CLIENT_PROTOCOLS.messages, TIME),
};

function describeLimits({ limitHeader }: ClientProtocol, reset: OpenapiPart): OpenapiPart {
  const headers = (['requests', 'tokens'] as const).flatMap((unit) => [
    [
      limitHeader(unit, 'limit'),
      { description: `${unit} per minute of the tightest limit that applies; absent without one.`, schema: COUNT },
    ],
    [limitHeader(unit, 'remaining'), { description: `Remaining ${unit}.`, schema: COUNT }],
    [limitHeader(unit, 'reset'), { description: 'When the full limit is available again.', schema: reset }],
  ]);
  return Object.fromEntries(headers);
}

export const HEADERS: OpenapiPart = {
  'x-request-id': { description: 'The id of the request, for looking it up in the logs.', schema: TEXT },
  'request-id': { description: 'The same id under the name that messages clients read.', schema: TEXT },
  'x-tollgate-provider': { description: 'The provider that answered.', schema: TEXT },
  'x-tollgate-model': { description: 'The name of the model at the provider.', schema: TEXT },
  'x-tollgate-attempts': { description: 'Number of attempts.', schema: COUNT },
  'x-tollgate-route': {
    description: 'Why the request went to this target. Absent where a stream began before its target was final.',
    schema: {
      type: 'string',
      enum: ['weight', 'order', 'latency', 'price', 'pin', 'probe', 'fallback', 'limp', 'hedge'],
    },
  },
  'x-tollgate-cost-usd': {
    description: 'Cost in US dollars. Absent on streams and for models without a price.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'x-tollgate-dropped': {
    description: 'Members that were dropped by the translation, separated by commas.',
    schema: TEXT,
  },
  'x-tollgate-cut': {
    description: 'The balance or a budget did not cover more of the answer, which ends as at a token limit.',
    schema: is('insufficient_quota'),
  },
  'x-should-retry': {
    description: '`false` if the same request would be refused again; absent if the status is enough.',
    schema: { enum: ['true', 'false'] },
  },
  'x-tollgate-replayed': {
    description: 'The stored answer of an earlier request with the same `Idempotency-Key` and body; it costs nothing.',
    schema: is('true'),
  },
  'x-tollgate-replayed-request-id': { description: 'The id of that earlier request.', schema: TEXT },
  'retry-after': {
    description: 'Seconds to wait before a retry; absent if waiting does not help.',
    schema: { ...COUNT, maximum: 60 },
  },
  ...LIMIT_HEADERS,
};

/** References to the headers with these names. */
export const pick = (...names: readonly string[]): OpenapiPart =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every response of a `/v1` path. */
export const V1_HEADERS: OpenapiPart = pick('x-request-id', 'request-id');

const CALL_HEADERS: OpenapiPart = {
  ...V1_HEADERS,
  ...pick('x-tollgate-provider', 'x-tollgate-model', 'x-tollgate-attempts', 'x-tollgate-route', 'x-tollgate-cost-usd'),
};

const limitNames = (protocol: ClientProtocolName) => Object.keys(describeLimits(CLIENT_PROTOCOLS[protocol], {}));

export const limitHeaders = (protocol: ClientProtocolName): OpenapiPart => pick(...limitNames(protocol));

/** Only request limits apply to a token count. */
export const countLimitHeaders = (protocol: ClientProtocolName): OpenapiPart =>
  pick(...limitNames(protocol).filter((name) => /-requests\b/.test(name)));
export const countHeaders = (protocol: ClientProtocolName): OpenapiPart => ({
  ...CALL_HEADERS,
  ...countLimitHeaders(protocol),
});

/** On every model response, which may be a stored one. */
export const answerHeaders = (protocol: ClientProtocolName): OpenapiPart => ({
  ...CALL_HEADERS,
  ...pick('x-tollgate-dropped', 'x-tollgate-cut', 'x-tollgate-replayed', 'x-tollgate-replayed-request-id'),
  ...limitHeaders(protocol),
});
