/** Builds the OpenAPI document of the gateway's endpoints: `/v1`, its probes, the console API. */
import manifest from '../../../package.json' with { type: 'json' };
import { consolePaths } from '../../console-api/kernel/openapi-paths.ts';
import type { ClientProtocolName, GenerationClientName } from '../../protocols/names.ts';
import { BATCH_PATHS, BATCH_SCHEMAS } from './batch-paths.ts';
import { BODY_STATUSES, errors, json, parameter, READ_STATUSES } from './error-responses.ts';
import { DRAWING, DRAWN, EDIT, FORM, MEDIA_SCHEMAS, SOUND, SPEECH, VARIATION, WRITTEN } from './media-contents.ts';
import { OBJECT_PATHS, OBJECT_SCHEMAS } from './object-paths.ts';
import { REQUEST_SCHEMAS } from './request-schemas.ts';
import {
  answerHeaders,
  countHeaders,
  countLimitHeaders,
  HEADERS,
  limitHeaders,
  RESPONSE_SCHEMAS,
  V1_HEADERS,
} from './response-schemas.ts';
import { is, type OpenapiPart, oneOf, refTo, TEXT } from './schema.ts';

const VERSIONS = ['2023-06-01', '2026-10-21'];
const MODEL_ID = parameter('id', 'path', 'A slash in it may be sent as %2F.', TEXT);
const GEMINI_MODEL = parameter('model', 'path', 'The name of the model; it may begin with `models/`.', TEXT);
const RESPONSE_ID = parameter('id', 'path', 'The id of a response of the workspace.', TEXT);
const RESUMING = [
  parameter('stream', 'query', 'The events of a response in the background, as they come.', { type: 'boolean' }),
  parameter('starting_after', 'query', 'Of a stream: only events after this number.', { type: 'integer', minimum: 0 }),
];
const VERSION_HEADERS = ['anthropic-version', 'provider-version'].map((name) =>
  parameter(name, 'header', 'Protocol version; both names mean the same. Absent: 2023-06-01.', oneOf(...VERSIONS)),
);
const IDEMPOTENCY_KEY = parameter(
  'Idempotency-Key',
  'header',
  'Names the request among those of the API key for 24 hours: sent again with the same body it gets the stored answer, and is billed once. ' +
    'With another body: 400. While the first one runs, or where its answer cannot be given again: 409. A request that failed without cost frees its name.',
  { ...TEXT, minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
);
const REQUIRED_TAGS = parameter(
  'x-tollgate-require',
  'header',
  'Data tags, separated by commas, that the target of the request must have beyond those that its key and workspace require: `eu, zdr`. ' +
    'A model without such a target: 403.',
  TEXT,
);
const ALT = parameter('alt', 'query', 'A stream as server-sent events; absent: as a JSON array.', is('sse'));
const STREAMS: { readonly [protocol in GenerationClientName | 'completions']: string } = {
  completions:
    'With `stream: true`: lines `data: <Completion>`, each followed by a blank line, ended by `data: [DONE]`. ' +
    'A failure after the first byte is a record `data: {"error": …}` without `[DONE]` after it.',
  chat:
    'With `stream: true`: lines `data: <ChatCompletionChunk>`, each followed by a blank line, ended by `data: [DONE]`. ' +
    'A failure after the first byte is a record `data: {"error": …}` without `[DONE]` after it. Comment lines (`: keep-alive`) may come in between.',
  responses:
    'With `stream: true`: records `event: <type>` and `data: <ResponseEvent>` with increasing `sequence_number`, each followed by a blank line, from ' +
    '`response.created` to `response.completed`, `response.incomplete` or `response.failed`. A failure is an `error` event and `response.failed`. ' +
    '`keepalive` events may come in between.',
  gemini:
    'With `?alt=sse`: records `data: <GeminiAnswer>`, each followed by a blank line; the last one has the finish reason and the counters. ' +
    'A failure after the first byte is a record `data: {"error": …}`. Otherwise these answers are the elements of a JSON array, piece by piece, ' +
    'and a failure is its last element, `{"error": …}`; one before the first byte is an array too.',
  messages:
    'With `stream: true`: records `event: <type>` and `data: <MessageEvent>`, each followed by a blank line: `message_start`, content blocks one ' +
    'after another, `message_delta`, `message_stop`. `ping` may come at any time. A failure after the first byte is an `error` event without `message_stop`.',
};

/** A 200 that is JSON or a stream of records; `record` is the schema of one record's data. */
function answer(protocol: keyof typeof STREAMS, schema: string, record: string): OpenapiPart {
  const description = STREAMS[protocol];
  const ofStream = { ...TEXT, description, contentMediaType: 'application/json', contentSchema: refTo(record) };
  const { content } = json('', schema);
  return {
    description: `The answer. ${description}`,
    headers: answerHeaders(protocol),
    content: { ...(content as OpenapiPart), 'text/event-stream': { schema: ofStream } },
  };
}

/** The path of a format whose answers are never streamed. */
function direct(protocol: ClientProtocolName, operationId: string, summary: string, request: string, schema: string) {
  return post(operationId, summary, request, [IDEMPOTENCY_KEY, REQUIRED_TAGS], {
    200: json('The answer.', schema, answerHeaders(protocol)),
    ...errors([...BODY_STATUSES, '409'], 'ChatError', limitHeaders(protocol)),
  });
}

/** A path of the formats of sound and images, with the contents of its request and of its answer. */
function media(
  protocol: 'audio' | 'images',
  operationId: string,
  summary: string,
  content: OpenapiPart,
  answer: OpenapiPart,
) {
  const responses = {
    200: { description: 'The answer, as the provider sends it.', headers: answerHeaders(protocol), content: answer },
    ...errors(BODY_STATUSES, 'ChatError', limitHeaders(protocol)),
  };
  const requestBody = { required: true, content };
  return { post: { operationId, summary, tags: ['calls'], parameters: [REQUIRED_TAGS], requestBody, responses } };
}

function post(operationId: string, summary: string, request: string, parameters: unknown[], responses: OpenapiPart) {
  const requestBody = { required: true, content: { 'application/json': { schema: refTo(request) } } };
  return { post: { operationId, summary, tags: ['calls'], parameters, requestBody, responses } };
}

/** A path of a stored response, without a body. */
function storedResponse(
  method: string,
  operationId: string,
  summary: string,
  schema: string,
  ...parameters: OpenapiPart[]
): OpenapiPart {
  const statuses = [...READ_STATUSES, '400', '422', '429'];
  const responses = {
    200: json(`${schema}.`, schema, V1_HEADERS),
    ...errors(statuses, 'ChatError', limitHeaders('responses')),
  };
  return { [method]: { operationId, summary, tags: ['calls'], parameters: [RESPONSE_ID, ...parameters], responses } };
}

/** A read-only path below `/v1`. */
function read(operationId: string, summary: string, tag: string, schema: string, ...parameters: OpenapiPart[]) {
  const responses = { 200: json(`${schema}.`, schema, V1_HEADERS), ...errors(READ_STATUSES, 'ChatError', {}) };
  return { get: { operationId, summary, tags: [tag], parameters, responses } };
}

/** The same in Gemini's format. */
function readGemini(operationId: string, summary: string, schema: string, ...parameters: OpenapiPart[]) {
  const responses = { 200: json(`${schema}.`, schema, V1_HEADERS), ...errors(READ_STATUSES, 'GeminiError', {}) };
  return { get: { operationId, summary, tags: ['models'], parameters, responses } };
}

/** A path that needs no key. */
function open(operationId: string, summary: string, responses: OpenapiPart): OpenapiPart {
  return { get: { operationId, summary, tags: ['service'], security: [], responses } };
}

const DOCUMENT = { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } };

/** `{}` among the credentials: a client on this machine needs none. */
const METRICS: OpenapiPart = {
  get: {
    operationId: 'getMetrics',
    summary: "Get the metrics of the gateway, as Prometheus' text or as OpenMetrics",
    tags: ['service'],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    responses: {
      200: {
        description: 'All metrics, in the format that `accept` asks for.',
        content: { 'text/plain': { schema: TEXT }, 'application/openmetrics-text': { schema: TEXT } },
      },
      401: json('No API key from another machine, or behind a proxy. Code `unauthorized`.', 'ChatError'),
      403: json('The key lacks the scope `admin`, or is of another account. Code `forbidden`.', 'ChatError'),
    },
  },
};

const PATHS: OpenapiPart = {
  '/v1/chat/completions': post(
    'createChatCompletion',
    'Create a chat completion',
    'ChatCompletionRequest',
    [IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: answer('chat', 'ChatCompletion', 'ChatCompletionChunk'),
      ...errors([...BODY_STATUSES, '409'], 'ChatError', limitHeaders('chat')),
    },
  ),
  '/v1/responses': post(
    'createResponse',
    'Create a response; ids of stored state are those of the same workspace, or open to it, else refused',
    'ResponseRequest',
    [IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: answer('responses', 'Response', 'ResponseEvent'),
      ...errors([...BODY_STATUSES, '409'], 'ChatError', limitHeaders('responses')),
    },
  ),
  '/v1/responses/compact': post(
    'compactResponse',
    'Compact the input of a response: the answer stands for it in later requests',
    'ResponseRequest',
    [IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: json('The compaction.', 'Compaction', answerHeaders('responses')),
      ...errors([...BODY_STATUSES, '409'], 'ChatError', limitHeaders('responses')),
    },
  ),
  '/v1/responses/input_tokens': post(
    'countResponseTokens',
    'Count the tokens of a response, without cost; only limits of requests per minute and of concurrency apply',
    'ResponseRequest',
    [],
    {
      200: json('The count.', 'ResponseTokens', countHeaders('responses')),
      ...errors(BODY_STATUSES, 'ChatError', countLimitHeaders('responses')),
    },
  ),
  '/v1/responses/{id}': {
    ...storedResponse('get', 'getResponse', 'Get a response that the provider stores', 'Response', ...RESUMING),
    ...storedResponse('delete', 'deleteResponse', 'Delete a response that the provider stores', 'ResponseDeletion'),
  },
  '/v1/responses/{id}/cancel': storedResponse('post', 'cancelResponse', 'Cancel a stored response', 'Response'),
  '/v1/responses/{id}/input_items': storedResponse(
    'get',
    'listResponseInput',
    'List the input of a stored response',
    'ResponseItems',
  ),
  ...OBJECT_PATHS,
  ...BATCH_PATHS,
  '/v1/messages': post(
    'createMessage',
    'Create a message',
    'MessageRequest',
    [...VERSION_HEADERS, IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: answer('messages', 'Message', 'MessageEvent'),
      ...errors([...BODY_STATUSES, '409', '504', '529'], 'MessagesError', limitHeaders('messages')),
    },
  ),
  '/v1/messages/count_tokens': post(
    'countMessageTokens',
    'Count the tokens of a message, without cost; only limits of requests per minute and of concurrency apply',
    'CountTokensRequest',
    VERSION_HEADERS,
    {
      200: json('The count.', 'CountTokensResult', countHeaders('messages')),
      ...errors([...BODY_STATUSES, '504', '529'], 'MessagesError', countLimitHeaders('messages')),
    },
  ),
  '/v1/embeddings': direct('embeddings', 'createEmbedding', 'Embed texts', 'EmbeddingsRequest', 'Embeddings'),
  '/v1/audio/speech': media('audio', 'createSpeech', 'Speak a text', SPEECH, SOUND),
  '/v1/audio/transcriptions': media('audio', 'createTranscription', 'Write down speech', FORM, WRITTEN),
  '/v1/audio/translations': media('audio', 'createTranslation', 'Write down speech in English', FORM, WRITTEN),
  '/v1/images/generations': media('images', 'createImage', 'Create images', DRAWING, DRAWN),
  '/v1/images/edits': media('images', 'editImage', 'Change images', EDIT, DRAWN),
  '/v1/images/variations': media('images', 'varyImage', 'Create variations of an image', VARIATION, DRAWN),
  '/v1beta/models/{model}:generateContent': post(
    'generateContent',
    'Create an answer in the Gemini format; the paths below `/v1` are the same',
    'GeminiRequest',
    [GEMINI_MODEL, IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: json('The answer.', 'GeminiAnswer', answerHeaders('gemini')),
      ...errors([...BODY_STATUSES, '409', '504'], 'GeminiError', limitHeaders('gemini')),
    },
  ),
  '/v1beta/models/{model}:streamGenerateContent': post(
    'streamGenerateContent',
    'Create a streamed answer in the Gemini format',
    'GeminiRequest',
    [GEMINI_MODEL, ALT, IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: answer('gemini', 'GeminiAnswer', 'GeminiAnswer'),
      ...errors([...BODY_STATUSES, '409', '504'], 'GeminiError', limitHeaders('gemini')),
    },
  ),
  '/v1beta/models/{model}:countTokens': post(
    'countTokens',
    'Count the tokens of a Gemini request, without cost; only limits of requests per minute and of concurrency apply',
    'GeminiRequest',
    [GEMINI_MODEL],
    {
      200: json('The count.', 'GeminiCount', countHeaders('gemini')),
      ...errors([...BODY_STATUSES, '504'], 'GeminiError', countLimitHeaders('gemini')),
    },
  ),
  '/v1beta/models': readGemini(
    'listGeminiModels',
    'List the models that the key may use, as Gemini does',
    'GeminiModelList',
  ),
  '/v1beta/models/{model}': readGemini('getGeminiModel', 'Get one model, as Gemini does', 'GeminiModel', GEMINI_MODEL),
  '/v1/models': read(
    'listModels',
    'List the models that the key may use; clients of Google get the list of `/v1beta`',
    'models',
    'ModelList',
  ),
  '/v1/completions': post(
    'createCompletion',
    'Complete a text, with models of the legacy format',
    'CompletionRequest',
    [IDEMPOTENCY_KEY, REQUIRED_TAGS],
    {
      200: answer('completions', 'Completion', 'Completion'),
      ...errors([...BODY_STATUSES, '409'], 'ChatError', limitHeaders('completions')),
    },
  ),
  '/v1/moderations': direct('moderations', 'createModeration', 'Classify text', 'ModerationRequest', 'Moderations'),
  '/v1/rerank': direct('rerank', 'rerank', 'Rank documents', 'RankRequest', 'Ranking'),
  '/v2/rerank': direct(
    'rerank',
    'rerankV2',
    "Rank documents, at the path of Cohere's version 2",
    'RankRequest',
    'Ranking',
  ),
  '/v1/models/{id}': read('getModel', 'Get one model', 'models', 'Model', MODEL_ID),
  '/v1/key': read('getKey', 'Get the permissions, use and remaining limits of the calling key', 'keys', 'Key'),
  '/healthz': open('getHealth', 'Whether the process is alive', { 200: json('The process is alive.', 'Probe') }),
  '/readyz': open('getReadiness', 'Whether the service takes requests', {
    200: json('The service is ready.', 'Probe'),
    503: json('Draining, or its store is not writable.', 'Probe'),
  }),
  '/metrics': METRICS,
  '/openapi.json': open('getOpenapiDocument', 'This document', { 200: DOCUMENT }),
};

const TAGS = {
  calls: 'Requests to a model.',
  models: 'Models that may be used.',
  keys: 'The calling key.',
  service: 'State of the service.',
  console: 'What the console does, for people by session and for automation by key.',
};

async function renderWithoutServers(withConsole: boolean): Promise<Buffer<ArrayBuffer>> {
  const document: OpenapiPart = {
    openapi: '3.1.1',
    info: {
      title: 'Tollgate',
      version: manifest.version,
      description:
        'One gateway, four request formats: chat completions, messages, Responses and Gemini. Authenticate with an API key of the gateway.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: { ...PATHS, ...(withConsole ? await consolePaths() : {}) },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API key>.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same, as messages clients do.' },
        googleKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-goog-api-key',
          description: 'The same, as Gemini clients do.',
        },
      },
      headers: HEADERS,
      schemas: { ...REQUEST_SCHEMAS, ...MEDIA_SCHEMAS, ...OBJECT_SCHEMAS, ...BATCH_SCHEMAS, ...RESPONSE_SCHEMAS },
    },
  };
  return Buffer.from(JSON.stringify(document).slice(1));
}

const rendered = new Map<boolean, Promise<Buffer<ArrayBuffer>>>();

/**
 * The document as JSON (OpenAPI 3.1.1), built once; only the address differs between requests. `publicUrl`: where
 * clients reach the gateway, such as `https://gw.example`; a trailing slash is dropped.
 */
export async function renderOpenapi(publicUrl: string, withConsole: boolean): Promise<Buffer<ArrayBuffer>> {
  const rest = rendered.get(withConsole) ?? renderWithoutServers(withConsole);
  rendered.set(withConsole, rest);
  const servers = Buffer.from(`{"servers":${JSON.stringify([{ url: publicUrl.replace(/\/+$/, '') }])},`);
  return Buffer.concat([servers, await rest]);
}
