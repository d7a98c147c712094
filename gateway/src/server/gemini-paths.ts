/**
 * Answers Gemini's paths: the model and the method of a request are in them (`/v1beta/models/MODEL:generateContent`), and
 * the list of models has a shape of its own. Contract, 10.17. https://ai.google.dev/api/models, read 2026-11-23.
 */
import type { CallOrigin } from '../call/call.ts';
import { countCall } from '../call/count-call.ts';
import type { CallDeps } from '../call/deps.ts';
import { handleCall } from '../call/handle-call.ts';
import type { CatalogModel } from '../catalog/catalog-model.ts';
import { CallFailure, invalidRequest } from '../errors/call-failure.ts';
import { queryOf } from '../lib/query/url-query.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import { replyAsArray } from './gemini-array.ts';
import { type DescribeModel, visibleModels } from './models-endpoint.ts';
import { replyJson } from './reply-json.ts';

/** The version in the paths of Google's clients; they also use `v1`. */
const BETA = '/v1beta';
/** Base URLs with and without `/v1`. */
export const GEMINI_BASES = [BETA, `/v1${BETA}`] as const;

/** The methods that are served. */
const METHODS: ReadonlyMap<string, { readonly stream: boolean; readonly countOnly: boolean }> = new Map([
  ['generateContent', { stream: false, countOnly: false }],
  ['streamGenerateContent', { stream: true, countOnly: false }],
  ['countTokens', { stream: false, countOnly: true }],
]);

const KEY_HEADER = 'x-goog-api-key';

/** Whether a request to a path of several formats comes from one of Google's clients. */
export function isFromGoogleClient(headers: Headers): boolean {
  return headers.has('x-goog-api-client') || headers.has(KEY_HEADER);
}

/**
 * A request to a model. `rest`: the path after `/models/`, decoded; the name may begin with `models/`, and may have colons.
 * Throws CallFailure `not_found` for a method that is not served.
 */
export function callGemini(request: Request, rest: string, origin: CallOrigin, deps: CallDeps): Promise<Response> {
  const query = queryOf(request);
  refuseKeyIn(query);
  const colon = rest.lastIndexOf(':');
  const method = colon === -1 ? undefined : METHODS.get(rest.slice(colon + 1));
  if (method === undefined) {
    const found = JSON.stringify(rest.slice(colon + 1, colon + 61));
    throw new CallFailure(
      'not_found',
      `there is no method ${found} of models; there are ${[...METHODS.keys()].join(', ')}`,
    );
  }
  const path = { model: bareName(rest.slice(0, colon)), stream: method.stream };
  const handle = method.countOnly ? countCall : handleCall;
  const run = (by: CallOrigin) => handle(request, CLIENT_PROTOCOLS.gemini, by, deps, path);
  return method.stream && !asksForEvents(query) ? replyAsArray(origin, run) : run(origin);
}

/** Google's libraries for Vertex AI ask for `json;enum-encoding=int`, and read names of enums too. Throws CallFailure. */
function asksForEvents(query: URLSearchParams): boolean {
  const alt = query.get('alt') ?? query.get('$alt') ?? 'json';
  if (alt === 'sse') return true;
  if (alt === 'json' || alt.startsWith('json;')) return false;
  throw invalidRequest(
    `alt: found ${JSON.stringify(alt.slice(0, 40))}; expected "sse" (server-sent events) or "json" (an array)`,
    'alt',
  );
}

/** Google's SDKs also take `models/NAME`. */
function bareName(name: string): string {
  return name.startsWith('models/') ? name.slice('models/'.length) : name;
}

/** Addresses get into logs on the way. */
function refuseKeyIn(query: URLSearchParams): void {
  if (!query.has('key')) return;
  throw new CallFailure(
    'unauthorized',
    `the API key came in the address ("?key="), which gets into logs; send it in the header ${KEY_HEADER}, and replace that key`,
    { closeConnection: true },
  );
}

const PAGE_MAX = 1000;

/** `GET /v1beta/models`, with `pageSize` and `pageToken`. Throws CallFailure. */
export function listGeminiModels(
  request: Request,
  origin: Pick<CallOrigin, 'address'>,
  deps: CallDeps,
  describe: DescribeModel,
): Response {
  const query = queryOf(request);
  refuseKeyIn(query);
  const models = servedModels(request, origin, deps);
  const size = query.get('pageSize');
  const count = size === null || size === '0' ? PAGE_MAX : Number(size);
  if (!Number.isInteger(count) || count < 1) {
    throw invalidRequest(
      `pageSize: found ${JSON.stringify(size?.slice(0, 40))}; expected an integer from 1`,
      'pageSize',
    );
  }
  const token = query.get('pageToken') || null;
  const start = token === null ? 0 : models.findIndex(([name]) => name === token);
  if (start === -1) {
    throw invalidRequest('pageToken: found no token of this list; leave it out to begin again', 'pageToken');
  }
  const end = start + Math.min(count, PAGE_MAX);
  const nextPageToken = models[end]?.[0];
  return replyJson({
    models: models.slice(start, end).map(([name, route]) => renderModel(name, describe(route))),
    ...(nextPageToken !== undefined && { nextPageToken }),
  });
}

/** `GET /v1beta/models/{id}`. Throws CallFailure. */
export function showGeminiModel(
  request: Request,
  id: string,
  origin: Pick<CallOrigin, 'address'>,
  deps: CallDeps,
  describe: DescribeModel,
): Response {
  refuseKeyIn(queryOf(request));
  const name = bareName(id);
  const found = servedModels(request, origin, deps).find(([one]) => one === name);
  if (found !== undefined) return replyJson(renderModel(name, describe(found[1])));
  throw new CallFailure(
    'not_found',
    `the model ${JSON.stringify(name.slice(0, 256))} does not exist, or this key cannot use it`,
  );
}

function servedModels(request: Request, origin: Pick<CallOrigin, 'address'>, deps: CallDeps) {
  return visibleModels(request, origin, deps, KEY_HEADER).filter(([, { protocols }]) => protocols.includes('gemini'));
}

function renderModel(name: string, known: CatalogModel | null) {
  return {
    name: `models/${name}`,
    version: '',
    displayName: known?.name ?? name,
    ...(known !== null && {
      inputTokenLimit: known.inputTokensMax ?? undefined,
      outputTokenLimit: known.outputTokensMax ?? undefined,
      thinking: known.capabilities.includes('reasoning'),
    }),
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}
