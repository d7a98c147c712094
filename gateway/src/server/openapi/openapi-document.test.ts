/** Tests the structure of the OpenAPI document: references, operations, statuses, schemas, and the founding tables. */
import { describe, expect, test } from 'bun:test';
import manifest from '../../../package.json' with { type: 'json' };
import { CONSOLE_ROUTES } from '../../console-api/contract/contract.ts';
import { consolePaths } from '../../console-api/kernel/openapi-paths.ts';
import { CHECKED_MEMBERS as CHAT_CHECKED } from '../../protocols/chat/client/client-protocol.ts';
import { REQUEST_MEMBERS as CHAT_MEMBERS } from '../../protocols/chat/client/parse-request.ts';
import { CHECKED_MEMBERS as MESSAGES_CHECKED } from '../../protocols/messages/client/client-protocol.ts';
import { REQUEST_MEMBERS as MESSAGES_MEMBERS } from '../../protocols/messages/client/parse-request.ts';
import { CLIENTS } from '../../protocols/registry.ts';
import { renderOpenapi } from './openapi-document.ts';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly headers?: object;
        readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
      }
    >
  >;
}

const document = JSON.parse(String(await renderOpenapi('https://gw.example/', true)));
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
);
const schemas: Record<string, { properties: Record<string, Record<string, unknown>>; required?: string[] }> =
  document.components.schemas;

/** Every value of a member with that name, at any depth. */
function collect(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [...(key === name ? [child] : []), ...collect(child, name)]);
}

function resolve(reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, token) => (at as Record<string, unknown> | undefined)?.[token], document);
}

/** The path that clients use: rerank's second one has its version in it. */
const underV1 = (path: string) => (/^\/v\d/.test(path) ? path : `/v1${path}`);

describe('the document', () => {
  test('names its version and the public address without a slash at the end', () => {
    expect(document).toMatchObject({
      openapi: '3.1.1',
      info: { version: manifest.version },
      servers: [{ url: 'https://gw.example' }],
    });
  });

  test('lets other requests run between the routes while it is built', async () => {
    let turns = 0;
    let isBuilt = false;
    const countTurn = () => {
      turns += 1;
      if (!isBuilt) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    await consolePaths();
    isBuilt = true;
    expect(turns).toBeGreaterThanOrEqual(Object.keys(CONSOLE_ROUTES).length - 1);
  });

  test('has exactly the paths that are served', () => {
    const served = operations.map(({ method, path }) => `${method} ${path}`);
    const console = Object.keys(CONSOLE_ROUTES).map((route) =>
      route.replace(/^(\w+) /, (_, method) => `${method.toLowerCase()} /app/api`),
    );
    expect(served.filter((one) => one.includes('/app/api')).sort()).toEqual(console.sort());
    const calls = CLIENTS.flatMap(({ endpoints }) => endpoints.map(({ path }) => `post ${underV1(path)}`));
    const others = [
      'delete /v1/conversations/{id}',
      'delete /v1/conversations/{id}/items/{item}',
      'delete /v1/files/{id}',
      'delete /v1/messages/batches/{id}',
      'delete /v1/responses/{id}',
      'get /healthz',
      'get /metrics',
      'get /openapi.json',
      'get /readyz',
      'get /v1/batches',
      'get /v1/batches/{id}',
      'get /v1/conversations/{id}',
      'get /v1/conversations/{id}/items',
      'get /v1/conversations/{id}/items/{item}',
      'get /v1/files',
      'get /v1/files/{id}',
      'get /v1/files/{id}/content',
      'get /v1/key',
      'get /v1/messages/batches',
      'get /v1/messages/batches/{id}',
      'get /v1/messages/batches/{id}/results',
      'get /v1/models',
      'get /v1/models/{id}',
      'get /v1/responses/{id}',
      'get /v1/responses/{id}/input_items',
      'get /v1beta/models',
      'get /v1beta/models/{model}',
      'post /v1/batches',
      'post /v1/batches/{id}/cancel',
      'post /v1/conversations',
      'post /v1/conversations/{id}',
      'post /v1/conversations/{id}/items',
      'post /v1/files',
      'post /v1/messages/batches',
      'post /v1/messages/batches/{id}/cancel',
      'post /v1/responses/{id}/cancel',
      'post /v1beta/models/{model}:countTokens',
      'post /v1beta/models/{model}:generateContent',
      'post /v1beta/models/{model}:streamGenerateContent',
    ];
    expect(served.filter((one) => !one.includes('/app/api')).sort()).toEqual([...calls, ...others].sort());
  });

  test('has references that all resolve, and no schema or header that nothing refers to', () => {
    const references = collect(document, '$ref') as string[];
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) expect([reference, typeof resolve(reference)]).toEqual([reference, 'object']);
    for (const kind of ['schemas', 'headers']) {
      for (const name of Object.keys(document.components[kind]))
        expect(references).toContain(`#/components/${kind}/${name}`);
    }
  });

  test('requires only members that it describes, and gives every range the right way round', () => {
    const objects = [
      ...Object.values(schemas),
      ...collect(schemas, 'properties').flatMap((properties) => Object.values(properties as object)),
    ];
    for (const { properties, required, minimum, maximum } of objects) {
      if (required !== undefined) expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
      if (minimum !== undefined && maximum !== undefined) expect(minimum).toBeLessThan(maximum);
    }
  });
});

const ofOthers = operations.filter(({ path }) => !path.startsWith('/app/api'));
describe.each(ofOthers.map(({ method, path, operation }) => [`${method} ${path}`, path, operation] as const))(
  '%s',
  (_, path, operation) => {
    test('has an id of its own, a summary and a known tag', () => {
      expect(operations.filter((other) => other.operation.operationId === operation.operationId)).toHaveLength(1);
      expect(operation.summary).toBeString();
      const tags = document.tags.map((tag: { name: string }) => tag.name);
      expect(operation.tags?.every((tag) => tags.includes(tag))).toBe(true);
    });

    test('has a 200, and for every status a description and a schema', () => {
      expect(operation.responses).toHaveProperty('200');
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).toBeString();
        const contents = Object.values(response.content ?? {});
        expect(contents.length).toBeGreaterThan(0);
        for (const content of contents) expect(content.schema).toBeObject();
      }
    });

    test('is open to anyone only outside of the versions, and names both request ids inside', () => {
      // Metrics are open on the machine itself.
      const open = path === '/metrics' ? [{}, { bearer: [] }, { apiKey: [] }] : [];
      expect(operation.security).toEqual(/^\/v(?:1|1beta|2)\//.test(path) ? undefined : open);
      if (!/^\/v(?:1|1beta|2)\//.test(path)) return;
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '500', '503']));
      for (const { headers } of Object.values(operation.responses)) {
        expect(Object.keys(headers ?? {})).toEqual(expect.arrayContaining(['x-request-id', 'request-id']));
      }
    });

    test('declares each parameter of its path', () => {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(declared.map((parameter) => parameter.name)).toEqual(inPath as string[]);
    });
  },
);

describe('the founding tables', () => {
  test('of the chat completions request are kept', () => {
    const request = schemas.ChatCompletionRequest;
    const members =
      'model messages temperature top_p stream stream_options max_tokens max_completion_tokens tools tool_choice response_format user';
    expect(Object.keys(request?.properties ?? {})).toEqual(expect.arrayContaining(members.split(' ')));
    expect(request?.required).toEqual(['model', 'messages']);
    expect(request?.properties.temperature?.anyOf).toContainEqual(
      expect.objectContaining({ type: 'number', minimum: 0, maximum: 2, default: 1 }),
    );
    expect(request?.properties.top_p?.anyOf).toContainEqual(
      expect.objectContaining({ type: 'number', minimum: 0, maximum: 1, default: 1 }),
    );
  });

  test('every member of the tables is a property, with its fate in a translation', () => {
    for (const [name, rows] of [
      ['ChatCompletionRequest', CHAT_MEMBERS],
      ['MessageRequest', MESSAGES_MEMBERS],
    ] as const) {
      for (const { member, note } of rows) {
        const [outer = '', inner] = member.split('.');
        const property = schemas[name]?.properties[outer];
        const found =
          inner === undefined ? property : (property?.properties as Record<string, object> | undefined)?.[inner];
        expect([member, JSON.stringify(found)]).toEqual([member, expect.stringContaining(note)]);
      }
    }
    expect(schemas.ChatCompletionRequest?.properties.logit_bias?.description).toBe(
      'Translated: refused; the model behind this name does not support token biases.',
    );
  });

  test('checks and documentation agree', () => {
    for (const [name, checked] of [
      ['ChatCompletionRequest', CHAT_CHECKED],
      ['MessageRequest', MESSAGES_CHECKED],
    ] as const) {
      for (const [member, { isNullable, ...type }] of Object.entries(checked)) {
        const property = schemas[name]?.properties[member];
        expect(isNullable ? property?.anyOf : [property]).toContainEqual(expect.objectContaining(type));
      }
    }
  });

  test('of the messages request are kept', () => {
    const request = schemas.MessageRequest;
    expect(Object.keys(request?.properties ?? {})).toEqual(
      expect.arrayContaining(['model', 'max_tokens', 'messages', 'system', 'stream', 'tools']),
    );
    expect(request?.required).toEqual(['model', 'max_tokens', 'messages']);
    expect(request?.properties.max_tokens).toMatchObject({ type: 'integer', minimum: 0 });
  });

  test('of the error bodies are kept', () => {
    expect(Object.keys(document.paths['/v1/chat/completions'].post.responses)).toEqual(
      expect.arrayContaining(['400', '401', '403', '413', '429', '500', '503']),
    );
    expect(Object.keys(document.paths['/v1/messages'].post.responses)).toEqual(
      expect.arrayContaining(['400', '401', '404', '413', '504', '529']),
    );
  });
});

test('operations of the console have ids of their own, words, answers and refusals, and the parameters of their paths', () => {
  const ofConsole = operations.filter(({ path }) => path.startsWith('/app/api'));
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { path, operation } of ofConsole) {
    expect([path, operation.summary, operation.tags]).toEqual([path, expect.stringMatching(/\.$/), ['console']]);
    expect(Object.keys(operation.responses).sort()).toEqual([expect.stringMatching(/^(200|302)$/), '4XX', '5XX']);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const given = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
    expect([path, given]).toEqual([path, named as string[]]);
  }
});
