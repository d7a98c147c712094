/** Owns the OpenAPI operations of the paths that call a model. */
import type { ProtocolName } from '../../protocols/protocol.ts';
import {
  CHAT_ERROR_STATUSES,
  COUNT_ERROR_STATUSES,
  errorResponses,
  MESSAGES_ERROR_STATUSES,
} from './error-responses.ts';
import { answerHeaders, CALL_HEADERS, COUNT_LIMIT_HEADERS, limitHeaders } from './response-headers.ts';
import { type OpenapiPart, refTo, words } from './schema-parts.ts';

const VERSIONS = ['2023-06-01', '2026-10-21'];
const VERSION_HEADERS = ['anthropic-version', 'provider-version'].map((name) => ({
  name,
  in: 'header',
  required: false,
  description: 'Protocol version; both names mean the same. Absent: 2023-06-01.',
  schema: words(VERSIONS, 'A version.'),
}));
const IDEMPOTENCY_KEY: OpenapiPart = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the call among those of the API key for 24 hours: sent again with the same body it gets the stored answer, and is billed once. ' +
    'With another body: 400. While the first call runs, or where its answer cannot be given again: 409. A call that cost nothing and failed frees its name.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

const CHAT_STREAM =
  'With `stream: true`: lines `data: <ChatCompletionChunk>`, each followed by a blank line, ended by `data: [DONE]`. ' +
  'A failure after the first byte is a record `data: {"error": …}` without `[DONE]` after it. ' +
  'Comment lines (`: keep-alive`) may come in between.';
const MESSAGES_STREAM =
  'With `stream: true`: records `event: <type>` and `data: <MessageEvent>`, each followed by a blank line: `message_start`, content blocks one ' +
  'after another, `message_delta`, `message_stop`. `ping` may come at any time. A failure after the first byte is an `error` event without `message_stop`.';

const jsonBody = (schema: string): OpenapiPart => {
  return { required: true, content: { 'application/json': { schema: refTo(schema) } } };
};

/** A 200 that is JSON or a stream of records; `record` is the schema of one record's data. */
const answer = (protocol: ProtocolName, schema: string, record: string, stream: string): OpenapiPart => ({
  description: `The answer. ${stream}`,
  headers: answerHeaders(protocol),
  content: {
    'application/json': { schema: refTo(schema) },
    'text/event-stream': {
      schema: {
        type: 'string',
        description: stream,
        contentMediaType: 'application/json',
        contentSchema: refTo(record),
      },
    },
  },
});

export const CALL_PATHS: OpenapiPart = {
  '/v1/chat/completions': {
    post: {
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      tags: ['calls'],
      parameters: [IDEMPOTENCY_KEY],
      requestBody: jsonBody('ChatCompletionRequest'),
      responses: {
        200: answer('chat', 'ChatCompletion', 'ChatCompletionChunk', CHAT_STREAM),
        ...errorResponses(CHAT_ERROR_STATUSES, 'ChatError', limitHeaders('chat')),
      },
    },
  },
  '/v1/messages': {
    post: {
      operationId: 'createMessage',
      summary: 'Create a message',
      tags: ['calls'],
      parameters: [...VERSION_HEADERS, IDEMPOTENCY_KEY],
      requestBody: jsonBody('MessageRequest'),
      responses: {
        200: answer('messages', 'Message', 'MessageEvent', MESSAGES_STREAM),
        ...errorResponses(MESSAGES_ERROR_STATUSES, 'MessagesError', limitHeaders('messages')),
      },
    },
  },
  '/v1/messages/count_tokens': {
    post: {
      operationId: 'countMessageTokens',
      summary: 'Count the tokens of a message',
      description:
        'Costs nothing: no budget, no balance and no limit of tokens binds it. Requests per minute and calls at once do, counted apart from those of calls.',
      tags: ['calls'],
      parameters: VERSION_HEADERS,
      requestBody: jsonBody('CountTokensRequest'),
      responses: {
        200: {
          description: 'The count.',
          headers: { ...CALL_HEADERS, ...COUNT_LIMIT_HEADERS },
          content: { 'application/json': { schema: refTo('CountTokensResult') } },
        },
        ...errorResponses(COUNT_ERROR_STATUSES, 'MessagesError', COUNT_LIMIT_HEADERS),
      },
    },
  },
};
