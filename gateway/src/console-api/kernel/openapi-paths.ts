/** Generates the OpenAPI operations of the console API from its route table. */
import { z } from 'zod';
import { CONSOLE_ROUTES, type ConsoleRoute, rowOf } from '../contract/contract.ts';
import type { RouteRow } from '../contract/row.ts';
import { splitRoute } from './console-api.ts';

/** An OpenAPI object or a part of one. */
type OpenapiPart = { readonly [member: string]: unknown };

const PREFIX = '/app/api';

/**
 * Every path below `/app/api` with its operations. Other requests run between the routes: all of them take about 40 ms.
 */
export async function consolePaths(): Promise<OpenapiPart> {
  const paths: Record<string, Record<string, OpenapiPart>> = {};
  for (const route of Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]) {
    const [method, path] = splitRoute(route);
    const operations = paths[`${PREFIX}${path}`] ?? {};
    paths[`${PREFIX}${path}`] = { ...operations, [method.toLowerCase()]: operationOf(route, rowOf(route)) };
    await new Promise(setImmediate);
  }
  return paths;
}

function operationOf(route: ConsoleRoute, row: RouteRow): OpenapiPart {
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return {
    operationId: operationId(route),
    summary: row.summary,
    description: accessWords(row),
    tags: ['console'],
    ...(row.access === 'anyone' ? { security: [] } : {}),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...queryParameters(row),
    ],
    ...(row.body === undefined ? {} : { requestBody: { required: true, ...contentOf(schemaOf(row.body, 'input')) } }),
    responses: { ...replyOf(row), '4XX': REFUSAL, '5XX': REFUSAL },
  };
}

const REFUSAL: OpenapiPart = {
  description: 'Error: the invalid member, what was found, what was expected, and the console page that fixes it.',
  ...contentOf({
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'member', 'page'],
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          member: { type: ['string', 'null'] },
          page: { type: ['string', 'null'] },
        },
      },
    },
  }),
};

function replyOf({ reply }: RouteRow): OpenapiPart {
  if (reply === 'redirect') return { 302: { description: 'Redirect.' } };
  if (reply === 'csv')
    return { 200: { description: 'The file.', content: { 'text/csv': { schema: { type: 'string' } } } } };
  return { 200: { description: 'The answer.', ...contentOf(schemaOf(reply, 'output')) } };
}

function queryParameters({ query }: RouteRow): OpenapiPart[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    readonly properties?: Readonly<Record<string, OpenapiPart>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** Anything that JSON Schema can't express (a transformation) allows any value. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): OpenapiPart {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as OpenapiPart;
}

function contentOf(schema: OpenapiPart): OpenapiPart {
  return { content: { 'application/json': { schema } } };
}

function accessWords({ access, peopleOnly }: RouteRow): string {
  if (access === 'anyone') return 'Anyone.';
  if (access === 'person') return 'Any signed-in user.';
  const keys = peopleOnly === true ? '' : ', or an API key whose scope includes it';
  return `A member with the permission \`${access}\`${keys}.`;
}

/** `GET /accounts/{account}/keys/{key}` → `getAccountsKeysByKey`. */
function operationId(route: ConsoleRoute): string {
  const [method, path] = splitRoute(route);
  const words = path
    .replace('{account}', '')
    .split(/[/.-]+/)
    .filter((word) => word !== '')
    .map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word)));
  return `${method.toLowerCase()}Console${words.join('')}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
