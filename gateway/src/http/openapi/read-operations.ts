/** Owns the OpenAPI operations of the paths that only read: models, the calling key, probes, and the document itself. */
import { errorResponses, READ_ERROR_STATUSES } from './error-responses.ts';
import { V1_HEADERS } from './response-headers.ts';
import { type OpenapiPart, refTo } from './schema-parts.ts';

/** Anyone may read these. */
const OPEN: readonly OpenapiPart[] = [];

const json = (description: string, schema: OpenapiPart, headers: OpenapiPart = {}): OpenapiPart => {
  return { description, headers, content: { 'application/json': { schema } } };
};

export const READ_PATHS: OpenapiPart = {
  '/v1/models': {
    get: {
      operationId: 'listModels',
      summary: 'List the models that the key may use',
      tags: ['models'],
      responses: {
        200: json('The models.', refTo('ModelList'), V1_HEADERS),
        ...errorResponses(READ_ERROR_STATUSES, 'ChatError'),
      },
    },
  },
  '/v1/models/{id}': {
    get: {
      operationId: 'getModel',
      summary: 'Get one model',
      tags: ['models'],
      parameters: [
        {
          name: 'id',
          in: 'path',
          required: true,
          description: 'A slash in it may be sent as %2F.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: json('The model.', refTo('Model'), V1_HEADERS),
        ...errorResponses(READ_ERROR_STATUSES, 'ChatError'),
      },
    },
  },
  '/v1/key': {
    get: {
      operationId: 'getKey',
      summary: 'What the calling key may do and has used, its limits, and what they have left',
      tags: ['keys'],
      responses: {
        200: json('The key.', refTo('Key'), V1_HEADERS),
        ...errorResponses(READ_ERROR_STATUSES, 'ChatError'),
      },
    },
  },
  '/healthz': {
    get: {
      operationId: 'getHealth',
      summary: 'Whether the process lives',
      tags: ['service'],
      security: OPEN,
      responses: { 200: json('It lives.', refTo('Probe')) },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'Whether the service takes calls',
      tags: ['service'],
      security: OPEN,
      responses: {
        200: json('It takes calls.', refTo('Probe')),
        503: json('Draining, or its store is not writable.', refTo('Probe')),
      },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenapiDocument',
      summary: 'This document',
      tags: ['service'],
      security: OPEN,
      responses: { 200: json('An OpenAPI 3.1 document.', { type: 'object' }) },
    },
  },
};
