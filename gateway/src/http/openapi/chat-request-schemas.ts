/** Owns the OpenAPI schemas of a chat completions request. Checks nothing: the endpoint does. */
import { count, flag, listOf, type OpenapiPart, orNull, range, refTo, shape, text, words } from './schema-parts.ts';

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export const CHAT_REQUEST_SCHEMAS: OpenapiPart = {
  ChatCompletionRequest: shape(
    'A chat completions request. Members that are not named here are handed on to the provider.',
    {
      model: text('Model identifier.'),
      messages: { type: 'array', items: refTo('ChatMessage'), minItems: 1, description: 'Conversation messages.' },
      temperature: orNull({ ...range(0, 2, 'Sampling temperature.'), default: 1 }),
      top_p: orNull({ ...range(0, 1, 'Nucleus sampling value.'), default: 1 }),
      stream: orNull({ ...flag('When true, the reply is delivered as chunks.'), default: false }),
      stream_options: orNull(
        shape('Streaming options; only with `stream: true`.', {
          include_usage: flag('Asks for a last chunk with `usage` and no choices before `[DONE]`.'),
        }),
      ),
      max_tokens: orNull(count('Legacy cap on output tokens.', 1)),
      max_completion_tokens: orNull(count('Cap on generated tokens, reasoning included. Use it to bound cost.', 1)),
      tools: orNull(listOf(refTo('ChatTool'), 'Tools that the model may call.')),
      tool_choice: orNull({
        description: 'Which tool is called. Default: `auto` with tools, else `none`.',
        anyOf: [
          words(['none', 'auto', 'required'], 'In general.'),
          shape('Names a tool, or a set of allowed ones.', { type: text('') }, ['type']),
        ],
      }),
      parallel_tool_calls: orNull({ ...flag('Whether one answer may hold several calls.'), default: true }),
      response_format: orNull(
        shape(
          'The form of the answer.',
          {
            type: words(['text', 'json_object', 'json_schema'], 'Kind of form.'),
            json_schema: shape(
              'The wanted schema.',
              { name: text('Name of the schema.'), schema: { type: 'object' }, strict: flag('Keep it exactly.') },
              ['name'],
            ),
          },
          ['type'],
        ),
      ),
      stop: orNull({
        description: 'Up to four texts at which the answer ends; they are not returned.',
        anyOf: [text('One text.'), { type: 'array', items: { type: 'string' }, maxItems: 4 }],
      }),
      n: orNull({ type: 'integer', minimum: 1, maximum: 128, default: 1, description: 'How many choices are wanted.' }),
      frequency_penalty: orNull(range(-2, 2, 'Penalty on repeated tokens.')),
      presence_penalty: orNull(range(-2, 2, 'Penalty on tokens that have appeared.')),
      reasoning_effort: orNull(words(EFFORTS, 'How much a reasoning model thinks; not every model takes every value.')),
      seed: orNull({ type: 'integer', description: 'Best-effort repeatability.' }),
      user: orNull(text('End-user identifier for audit and abuse prevention.')),
    },
    ['model', 'messages'],
  ),
  ChatMessage: shape(
    'One message of the conversation.',
    {
      role: words(ROLES, 'Who speaks.'),
      content: {
        description: 'A text, or parts. Null is for an assistant that only calls tools.',
        anyOf: [{ type: 'string' }, { type: 'array', items: refTo('ChatContentPart') }, { type: 'null' }],
      },
      name: text('Tells speakers of one role apart.'),
      tool_calls: listOf(refTo('ChatToolCall'), 'Calls that the assistant made.'),
      tool_call_id: text('Of a tool message: the call that it answers.'),
    },
    ['role'],
  ),
  ChatContentPart: shape(
    'A part of a message. The member named as `type` holds the content.',
    {
      type: words(['text', 'image_url', 'input_audio', 'file', 'refusal'], 'Kind of part.'),
      text: text('Of a text part.'),
      image_url: shape(
        'Of an image part.',
        {
          url: text('An http(s) URL, or a data URL in base64.'),
          detail: words(['auto', 'low', 'high', 'original'], 'Resolution.'),
        },
        ['url'],
      ),
      input_audio: shape('Of a sound part.', { data: text('Base64.'), format: words(['wav', 'mp3'], 'Encoding.') }, [
        'data',
        'format',
      ]),
      file: shape('Of a file part.', {
        file_data: text('A data URL.'),
        file_id: text('An id.'),
        filename: text('A name.'),
      }),
    },
    ['type'],
  ),
  ChatTool: shape(
    'A tool that the model may call.',
    {
      type: words(['function', 'custom'], 'Kind of tool.'),
      function: shape(
        'Of a function.',
        {
          name: text('At most 64 characters.'),
          description: text('What it is for.'),
          parameters: { type: 'object' },
          strict: flag('Keep the schema exactly.'),
        },
        ['name'],
      ),
      custom: shape(
        'Of a tool that takes free text.',
        { name: text('Its name.'), description: text('What it is for.') },
        ['name'],
      ),
    },
    ['type'],
  ),
  ChatToolCall: shape(
    'A call of a tool. Its arguments are unvalidated: check them before you act on them.',
    {
      id: text('Identifies the call.'),
      type: words(['function', 'custom'], 'Kind of tool.'),
      function: shape(
        'Of a function.',
        { name: text('The function.'), arguments: text('JSON text, possibly invalid.') },
        ['name', 'arguments'],
      ),
      custom: shape('Of a tool that takes free text.', { name: text('The tool.'), input: text('The text.') }, [
        'name',
        'input',
      ]),
    },
    ['id', 'type'],
  ),
};
