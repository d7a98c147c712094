/** Owns the OpenAPI document of what the gateway serves: `/v1`, its probes, the console API. Its parts have files of their own. */
import manifest from '../../../package.json' with { type: 'json' };
import { consolePaths } from '../../console-api/openapi-paths.ts';
import { CALL_PATHS } from './call-operations.ts';
import { CHAT_REQUEST_SCHEMAS } from './chat-request-schemas.ts';
import { CHAT_RESPONSE_SCHEMAS } from './chat-response-schemas.ts';
import { ERROR_SCHEMAS } from './error-responses.ts';
import { KEY_SCHEMAS } from './key-schemas.ts';
import { MESSAGES_SCHEMAS } from './messages-schemas.ts';
import { MODEL_SCHEMAS } from './model-schemas.ts';
import { READ_PATHS } from './read-operations.ts';
import { HEADERS } from './response-headers.ts';
import type { OpenapiPart } from './schema-parts.ts';

interface OpenapiFacts {
  /** Where clients reach the gateway, such as `https://gw.example`; a slash at the end is taken off. */
  readonly publicUrl: string;
  /** Whether the console is served. */
  readonly withConsole: boolean;
}

/** The document as plain JSON (OpenAPI 3.1.1). Pure and constant for equal facts, so it may be rendered once. */
export function openapiDocument({ publicUrl, withConsole }: OpenapiFacts): OpenapiPart {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tollgate',
      version: manifest.version,
      description:
        'One gateway, two request formats: chat completions and messages. Authenticate with an API key of the gateway.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl.replace(/\/+$/, '') }],
    tags: [
      { name: 'calls', description: 'Calls of a model.' },
      { name: 'models', description: 'What may be called.' },
      { name: 'keys', description: 'What the calling key may do.' },
      { name: 'service', description: 'State of the service.' },
      { name: 'console', description: 'What the console does, for people by session and for automation by key.' },
    ],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: { ...CALL_PATHS, ...READ_PATHS, ...(withConsole ? consolePaths() : {}) },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API key>.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key, as messages clients send it.',
        },
      },
      headers: HEADERS,
      schemas: {
        ...CHAT_REQUEST_SCHEMAS,
        ...CHAT_RESPONSE_SCHEMAS,
        ...MESSAGES_SCHEMAS,
        ...MODEL_SCHEMAS,
        ...KEY_SCHEMAS,
        ...ERROR_SCHEMAS,
      },
    },
  };
}
