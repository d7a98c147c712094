/** Builds the schemas of responses: model responses in both formats, the model list, the calling key, errors. */
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
const USAGE = 'Tokens. The log, not this, is the record of what is billed.';

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
    'A call of a tool. Its arguments are unvalidated: check them before you act on them.',
  ),
  ChatUsage: object(
    {
      ...each(COUNT, 'prompt_tokens', 'completion_tokens', 'total_tokens'),
      'prompt_tokens_details?': orNull(object({ 'cached_tokens?': COUNT })),
      'completion_tokens_details?': orNull(object({ 'reasoning_tokens?': COUNT })),
    },
    USAGE,
  ),
  ChatError: object({ error: object({ ...each(TEXT, 'message', 'type'), ...each(orNull(TEXT), 'param', 'code') }) }),

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
  MessagesError: object({
    type: is('error'),
    error: object(each(TEXT, 'type', 'message')),
    'request_id?': orNull(TEXT),
  }),

  Model: object({
    ...each(TEXT, 'id', 'owned_by?', 'display_name?'),
    ...each(is('model'), 'object', 'type'),
    'created?': COUNT,
    'created_at?': TIME,
    ...each(orNull(COUNT), 'max_input_tokens?', 'max_tokens?'),
    'protocols?': listOf(oneOf('chat', 'messages')),
  }),
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
      models: { ...orNull(listOf(TEXT)), description: 'The models it may use; * stands for any run of characters.' },
      strict: { ...FLAG, description: 'A translation that would drop a member is refused.' },
      holds: { ...oneOf('adaptive', 'strict'), description: 'A stream reserves money in slices, or its maximum cost.' },
      expires_at: orNull(TIME),
      usage: { ...orNull(object(each(refTo('KeyUsage'), 'day', 'month'))), description: 'Null: not ready; ask again.' },
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
