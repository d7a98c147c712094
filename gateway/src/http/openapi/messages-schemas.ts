/** Owns the OpenAPI schemas of the messages endpoint: requests, answers, stream events, token counts. */
import { count, flag, listOf, type OpenapiPart, orNull, range, refTo, shape, text, words } from './schema-parts.ts';

const STOP_REASONS = [
  ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded'],
];
const EVENTS = [
  ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
  ...['message_delta', 'message_stop', 'ping', 'error'],
];
const OLD_VERSION = 'Only with version 2023-06-01, and only for models that take it.';

/** What a message and a token count are asked with alike. */
const PROMPT = {
  model: text('Model identifier for the selected tier.'),
  messages: {
    type: 'array',
    items: refTo('MessageTurn'),
    minItems: 1,
    maxItems: 100_000,
    description: 'Conversation turns.',
  },
  system: { description: 'System prompt.', anyOf: [{ type: 'string' }, listOf(refTo('MessageBlock'), 'Text blocks.')] },
  tools: listOf(
    shape('A tool.', {
      name: text('Its name.'),
      description: text('What it is for.'),
      input_schema: { type: 'object' },
    }),
    'Tools that the model may call.',
  ),
  tool_choice: shape(
    'Which tool is called.',
    {
      type: words(['auto', 'any', 'tool', 'none'], 'The rule.'),
      name: text('With `tool`: its name.'),
      disable_parallel_tool_use: flag('At most one call.'),
    },
    ['type'],
  ),
  thinking: shape(
    'Extended thinking.',
    {
      type: words(['enabled', 'adaptive', 'between_tools', 'disabled'], 'When.'),
      budget_tokens: count('With `enabled`; less than `max_tokens`.', 1_024),
    },
    ['type'],
  ),
  output_config: shape('Effort and form of the answer.', {
    effort: words(['low', 'medium', 'high', 'xhigh', 'max'], 'How much work.'),
    format: shape('A wanted schema.', { type: { const: 'json_schema' }, schema: { type: 'object' } }, [
      'type',
      'schema',
    ]),
  }),
};

export const MESSAGES_SCHEMAS: OpenapiPart = {
  MessageRequest: shape(
    'A messages request. Members that are not named here are handed on, save those that belong to chat completions.',
    {
      ...PROMPT,
      max_tokens: count('Upper limit on output tokens; 0 fills the prompt cache and generates nothing.'),
      stream: flag('Whether to stream output.'),
      stop_sequences: listOf({ type: 'string' }, 'Texts at which the answer ends.'),
      temperature: range(0, 1, OLD_VERSION),
      top_p: range(0, 1, OLD_VERSION),
      top_k: count(OLD_VERSION),
      metadata: shape('About the caller.', { user_id: orNull(text('End-user identifier.')) }),
    },
    ['model', 'max_tokens', 'messages'],
  ),
  CountTokensRequest: shape('A messages request without `max_tokens`.', PROMPT, ['model', 'messages']),
  CountTokensResult: shape('How long the prompt is.', { input_tokens: count('Tokens of the prompt.') }, [
    'input_tokens',
  ]),
  MessageTurn: shape(
    'One turn of the conversation.',
    {
      role: words(['user', 'assistant', 'system'], 'Who speaks.'),
      content: {
        description: 'A text, or blocks.',
        anyOf: [{ type: 'string' }, { type: 'array', items: refTo('MessageBlock') }],
      },
    },
    ['role', 'content'],
  ),
  MessageBlock: shape(
    'A content block. Text is in the field `text` of blocks whose `type` is `text`.',
    { type: text('Such as text, image, document, tool_use, tool_result, thinking.'), text: text('Of a text block.') },
    ['type'],
  ),
  Message: shape(
    'A whole answer.',
    {
      id: text('Message identifier.'),
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: text('Model used.'),
      content: listOf(refTo('MessageBlock'), 'Content blocks; may be empty.'),
      stop_reason: orNull(words(STOP_REASONS, 'Why it ended; null only in `message_start`.')),
      stop_sequence: orNull(text('The stop sequence that ended it.')),
      usage: refTo('MessageUsage'),
    },
    ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage'],
  ),
  MessageUsage: shape(
    'Tokens. The log, not this, is the record of what is billed.',
    {
      input_tokens: count('Input, cache reads and writes excluded.'),
      cache_creation_input_tokens: orNull(count('Written to the cache.')),
      cache_read_input_tokens: orNull(count('Read from the cache.')),
      output_tokens: count('Output, thinking included.'),
    },
    ['input_tokens', 'output_tokens'],
  ),
  MessageEvent: shape(
    'The `data` of one event; `event:` repeats its type.',
    { type: words(EVENTS, 'Kind of event.') },
    ['type'],
  ),
};
