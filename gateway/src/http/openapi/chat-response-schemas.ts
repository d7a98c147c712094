/** Owns the OpenAPI schemas of chat completions answers, whole and streamed. */
import { count, listOf, type OpenapiPart, orNull, refTo, shape, text, words } from './schema-parts.ts';

const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];
const HEAD = {
  id: text('Completion identifier.'),
  created: count('Unix time in seconds.'),
  model: text('Model used by the route.'),
};
const HEAD_NAMES = ['id', 'object', 'created', 'model', 'choices'];

export const CHAT_RESPONSE_SCHEMAS: OpenapiPart = {
  ChatCompletion: shape(
    'A whole answer.',
    {
      ...HEAD,
      object: { const: 'chat.completion' },
      choices: listOf(
        shape(
          'One candidate.',
          {
            index: count('Number of the choice.'),
            message: refTo('ChatAnswer'),
            finish_reason: words(FINISH_REASONS, 'Why it ended.'),
          },
          ['index', 'message', 'finish_reason'],
        ),
        'Candidate responses.',
      ),
      usage: refTo('ChatUsage'),
    },
    HEAD_NAMES,
  ),
  ChatAnswer: shape(
    'What the assistant says.',
    {
      role: { const: 'assistant' },
      content: orNull(text('The text; null where only tools are called.')),
      refusal: orNull(text('Why the model declined.')),
      reasoning_content: text('What a reasoning model shows of its thinking.'),
      tool_calls: listOf(refTo('ChatToolCall'), 'Calls to make.'),
    },
    ['role', 'content'],
  ),
  ChatCompletionChunk: shape(
    'One chunk of a streamed answer. `id` is the same in every chunk of one stream.',
    {
      ...HEAD,
      object: { const: 'chat.completion.chunk' },
      choices: listOf(
        shape(
          'A piece of one candidate.',
          {
            index: count('Number of the choice.'),
            delta: shape('What is added; text arrives in `content`.', {
              role: { const: 'assistant' },
              content: orNull(text('Text.')),
            }),
            finish_reason: orNull(words(FINISH_REASONS, 'Null while the reply continues.')),
          },
          ['index', 'delta', 'finish_reason'],
        ),
        'Empty in the usage chunk.',
      ),
      usage: orNull(refTo('ChatUsage')),
    },
    HEAD_NAMES,
  ),
  ChatUsage: shape(
    'Tokens. The log, not this, is the record of what is billed.',
    {
      prompt_tokens: count('All input, cached tokens included.'),
      completion_tokens: count('All output, reasoning included.'),
      total_tokens: count('Their sum.'),
      prompt_tokens_details: orNull(shape('Parts of the input.', { cached_tokens: count('Read from a cache.') })),
      completion_tokens_details: orNull(
        shape('Parts of the output.', { reasoning_tokens: count('Spent on reasoning.') }),
      ),
    },
    ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  ),
};
