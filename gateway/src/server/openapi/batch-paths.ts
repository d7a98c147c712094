/** Describes the paths of batches: of OpenAI's form, and of Anthropic's. */
import { parameter } from './error-responses.ts';
import { operation } from './object-paths.ts';
import { COUNT, FLAG, is, listOf, type OpenapiPart, object, oneOf, orNull, refTo, TEXT } from './schema.ts';

const ID = parameter('id', 'path', 'The id of a batch of the workspace.', TEXT);
const LIMIT = parameter('limit', 'query', 'Default 20; at most 100, for Anthropic’s 1,000.', TEXT);
const AFTER = parameter('after', 'query', 'The id of a batch: those that follow it in the list.', TEXT);
const AFTER_ID = parameter('after_id', 'query', 'The same; `before_id` for those before it.', TEXT);

const get = 'get' as const;
const post = 'post' as const;
const messages = { format: 'messages', schema: 'MessageBatch' } as const;
const CREATE =
  'Create a batch at a provider with `files: on`. A request that is wrong is named by its place and `custom_id`';

export const BATCH_PATHS: OpenapiPart = {
  '/v1/batches': {
    ...operation({
      method: post,
      id: 'createBatch',
      summary: CREATE,
      schema: 'Batch',
      body: ['BatchRequest', false],
    }),
    ...operation({
      method: get,
      id: 'listBatches',
      summary: 'List the batches of the workspace',
      schema: 'BatchList',
      parameters: [LIMIT, AFTER],
    }),
  },
  '/v1/batches/{id}': operation({
    method: get,
    id: 'getBatch',
    summary: 'Get a batch; its end shows once it is charged',
    schema: 'Batch',
    parameters: [ID],
  }),
  '/v1/batches/{id}/cancel': operation({
    method: post,
    id: 'cancelBatch',
    summary: 'Cancel a batch: what is answered is charged',
    schema: 'Batch',
    parameters: [ID],
  }),
  '/v1/messages/batches': {
    ...operation({
      ...messages,
      method: post,
      id: 'createMessageBatch',
      summary: CREATE,
      body: ['MessageBatchRequest', false],
    }),
    ...operation({
      ...messages,
      method: get,
      id: 'listMessageBatches',
      summary: 'List the batches of the workspace',
      schema: 'MessageBatchList',
      parameters: [LIMIT, AFTER_ID],
    }),
  },
  '/v1/messages/batches/{id}': {
    ...operation({
      ...messages,
      method: get,
      id: 'getMessageBatch',
      summary: 'Get a batch; its end shows once it is charged',
      parameters: [ID],
    }),
    ...operation({
      ...messages,
      method: 'delete',
      id: 'deleteMessageBatch',
      summary: 'Delete a batch that has ended',
      schema: 'ObjectDeletion',
      parameters: [ID],
    }),
  },
  '/v1/messages/batches/{id}/cancel': operation({
    ...messages,
    method: post,
    id: 'cancelMessageBatch',
    summary: 'Cancel a batch: what is answered is charged',
    parameters: [ID],
  }),
  '/v1/messages/batches/{id}/results': operation({
    ...messages,
    method: get,
    id: 'getMessageBatchResults',
    summary: 'Get the results of a batch that has ended, as JSON lines',
    schema: null,
    parameters: [ID],
  }),
};

const AS_WRITTEN = 'As the provider wrote it.';
const listed = (schema: string) =>
  object({
    'object?': is('list'),
    data: listOf(refTo(schema)),
    has_more: FLAG,
    first_id: orNull(TEXT),
    last_id: orNull(TEXT),
  });

export const BATCH_SCHEMAS: OpenapiPart = {
  BatchRequest: object({
    input_file_id: { ...TEXT, description: 'A file of the workspace with a request in each line.' },
    endpoint: oneOf('/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/completions', '/v1/moderations'),
    completion_window: is('24h'),
    'metadata?': { type: 'object' },
  }),
  Batch: object(
    {
      id: TEXT,
      'object?': is('batch'),
      'status?': TEXT,
      'output_file_id?': orNull(TEXT),
      'error_file_id?': orNull(TEXT),
      'request_counts?': { type: 'object' },
      'created_at?': COUNT,
    },
    AS_WRITTEN,
  ),
  BatchList: listed('Batch'),
  MessageBatchRequest: object({ requests: listOf(object({ custom_id: TEXT, params: refTo('MessageRequest') })) }),
  MessageBatch: object(
    {
      id: TEXT,
      'type?': is('message_batch'),
      'processing_status?': TEXT,
      'results_url?': { ...orNull(TEXT), description: 'An address of this gateway.' },
      'request_counts?': { type: 'object' },
    },
    AS_WRITTEN,
  ),
  MessageBatchList: listed('MessageBatch'),
};
