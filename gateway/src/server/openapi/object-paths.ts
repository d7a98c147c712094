/** Describes the paths of objects that clients create at providers: files and conversations. */
import { BODY_STATUSES, errors, json, parameter, READ_STATUSES } from './error-responses.ts';
import { limitHeaders, V1_HEADERS } from './response-schemas.ts';
import { COUNT, FLAG, is, listOf, type OpenapiPart, object, oneOf, orNull, refTo, TEXT } from './schema.ts';

const ID = parameter('id', 'path', 'The id of an object of the workspace.', TEXT);
const ITEM = parameter('item', 'path', 'The id of an item of the conversation.', TEXT);
const PROVIDER = parameter(
  'x-tollgate-provider',
  'header',
  'The provider that is to keep the object, where several could: without it such a request gets 400.',
  TEXT,
);

interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly id: string;
  readonly summary: string;
  /** The schema of the answer; null: bytes. */
  readonly schema: string | null;
  /** The schema of the body, and whether it is a form. */
  readonly body?: readonly [schema: string, isForm: boolean];
  readonly parameters?: readonly OpenapiPart[];
  /** The format of its refusals. Absent: that of OpenAI. */
  readonly format?: 'messages';
}

const BYTES_ANSWER = {
  'application/octet-stream': { schema: { ...TEXT, contentMediaType: 'application/octet-stream' } },
};

export function operation({ method, id, summary, schema, body, parameters = [], format }: Operation): OpenapiPart {
  const statuses = body === undefined ? [...READ_STATUSES, '400', '422', '429'] : BODY_STATUSES;
  const answer =
    schema === null
      ? { description: 'The bytes of the file.', headers: V1_HEADERS, content: BYTES_ANSWER }
      : json(`${schema}.`, schema, V1_HEADERS);
  const refusals =
    format === 'messages'
      ? errors(statuses, 'MessagesError', limitHeaders('messages'))
      : errors(statuses, 'ChatError', limitHeaders('responses'));
  const responses = { 200: answer, ...refusals };
  const shared = { operationId: id, summary, tags: ['calls'], parameters, responses };
  if (body === undefined) return { [method]: shared };
  const [name, isForm] = body;
  const content = { [isForm ? 'multipart/form-data' : 'application/json']: { schema: refTo(name) } };
  return { [method]: { ...shared, requestBody: { required: true, content } } };
}

const LIST_QUERY = [
  [
    'limit',
    'From 1 to 10,000, the default, but a page has at most 1,000 files; for clients of Anthropic from 1 to 1,000, default 20.',
  ],
  [
    'after',
    'The id of a file: those that follow it in the list. For clients of Anthropic: `page` (the `next_page` before), `after_id`, `before_id`, or `ids[]`.',
  ],
  ['order', '`desc` (newest first, the default) or `asc`.'],
  ['purpose', 'Only files of this purpose.'],
] as const;

const QUERY = LIST_QUERY.map(([name, words]) => parameter(name, 'query', words, TEXT));

export const OBJECT_PATHS: OpenapiPart = {
  '/v1/files': {
    ...operation({
      method: 'post',
      id: 'createFile',
      summary:
        'Upload a file, at a provider with `files: on`. With `anthropic-version` the answer has Anthropic’s form',
      schema: 'File',
      body: ['FileForm', true],
      parameters: [PROVIDER],
    }),
    ...operation({
      method: 'get',
      id: 'listFiles',
      summary: 'List the files that the workspace uploaded',
      schema: 'FileList',
      parameters: QUERY,
    }),
  },
  '/v1/files/{id}': {
    ...operation({ method: 'get', id: 'getFile', summary: 'Get a file', schema: 'File', parameters: [ID] }),
    ...operation({
      method: 'delete',
      id: 'deleteFile',
      summary: 'Delete a file',
      schema: 'ObjectDeletion',
      parameters: [ID],
    }),
  },
  '/v1/files/{id}/content': operation({
    method: 'get',
    id: 'getFileContent',
    summary: 'Get the bytes of a file, as far as the provider gives them out',
    schema: null,
    parameters: [ID],
  }),
  '/v1/conversations': operation({
    method: 'post',
    id: 'createConversation',
    summary: 'Create a conversation, which the provider keeps for the workspace',
    schema: 'Conversation',
    body: ['ConversationRequest', false],
    parameters: [PROVIDER],
  }),
  '/v1/conversations/{id}': {
    ...operation({
      method: 'get',
      id: 'getConversation',
      summary: 'Get a conversation',
      schema: 'Conversation',
      parameters: [ID],
    }),
    ...operation({
      method: 'post',
      id: 'changeConversation',
      summary: 'Change the metadata of a conversation',
      schema: 'Conversation',
      body: ['ConversationRequest', false],
      parameters: [ID],
    }),
    ...operation({
      method: 'delete',
      id: 'deleteConversation',
      summary: 'Delete a conversation',
      schema: 'ObjectDeletion',
      parameters: [ID],
    }),
  },
  '/v1/conversations/{id}/items': {
    ...operation({
      method: 'get',
      id: 'listConversationItems',
      summary: 'List the items of a conversation',
      schema: 'ResponseItems',
      parameters: [ID],
    }),
    ...operation({
      method: 'post',
      id: 'addConversationItems',
      summary: 'Add items to a conversation',
      schema: 'ResponseItems',
      body: ['ConversationRequest', false],
      parameters: [ID],
    }),
  },
  '/v1/conversations/{id}/items/{item}': {
    ...operation({
      method: 'get',
      id: 'getConversationItem',
      summary: 'Get an item of a conversation',
      schema: 'ConversationItem',
      parameters: [ID, ITEM],
    }),
    ...operation({
      method: 'delete',
      id: 'deleteConversationItem',
      summary: 'Delete an item of a conversation',
      schema: 'Conversation',
      parameters: [ID, ITEM],
    }),
  },
};

const AS_WRITTEN = 'As the provider wrote it.';

export const OBJECT_SCHEMAS: OpenapiPart = {
  FileForm: object(
    {
      file: { ...TEXT, contentMediaType: 'application/octet-stream', description: 'With a file name.' },
      'purpose?': oneOf('assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'),
      'expires_after[anchor]?': TEXT,
      'expires_after[seconds]?': TEXT,
    },
    'A form. Fields that are not listed are handed on; at most 64 parts, and 64 kB in each but the file.',
  ),
  File: object(
    {
      id: TEXT,
      'filename?': TEXT,
      'bytes?': COUNT,
      'purpose?': TEXT,
      'created_at?': COUNT,
      'expires_at?': orNull(COUNT),
    },
    AS_WRITTEN,
  ),
  FileList: object(
    {
      'object?': is('list'),
      data: listOf(refTo('File')),
      has_more: FLAG,
      first_id: orNull(TEXT),
      last_id: orNull(TEXT),
      'next_page?': orNull(TEXT),
    },
    'The files as the provider described them when they were uploaded.',
  ),
  ObjectDeletion: object({ id: TEXT, 'object?': TEXT, 'deleted?': FLAG }, AS_WRITTEN),
  ConversationRequest: object({ 'items?': listOf({ type: 'object' }), 'metadata?': { type: 'object' } }),
  Conversation: object({ id: TEXT, 'object?': is('conversation'), 'metadata?': { type: 'object' } }, AS_WRITTEN),
  ConversationItem: object({ 'id?': TEXT, 'type?': TEXT }, AS_WRITTEN),
};
