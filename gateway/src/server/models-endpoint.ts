/**
 * Answers `/v1/models` with one body that both SDK families can read, containing only models the calling key may use.
 * Wire reference B.10.
 */
import type { CallOrigin } from '../call/call.ts';
import type { CallDeps } from '../call/deps.ts';
import { allowCaller, identify, readCredential } from '../call/request/identify.ts';
import type { CatalogModel } from '../catalog/catalog-model.ts';
import { CallFailure, invalidRequest } from '../errors/call-failure.ts';
import { mayUseModel, type Principal } from '../identity/principal.ts';
import type { Route } from '../routing/route.ts';
import { replyJson } from './reply-json.ts';

/** Looks up a route's model in the catalog; null: the catalog does not know it. */
export type DescribeModel = (route: Route) => CatalogModel | null;

const EPOCH = '1970-01-01';
const LIMIT_MAX = 1000;

/** `GET /v1/models`, with the messages side's `limit`, `after_id` and `before_id`. Throws CallFailure. */
export function listModels(
  request: Request,
  origin: Pick<CallOrigin, 'address'>,
  deps: CallDeps,
  describe: DescribeModel,
): Response {
  const visible = visibleModels(request, origin, deps).map(([name, route]) => renderModel(name, route, describe));
  const query = new URLSearchParams(request.url.split('?')[1] ?? '');
  const page = cutPage(visible, query);
  return replyJson({
    object: 'list',
    data: page.models,
    has_more: page.more,
    first_id: page.models[0]?.id ?? null,
    last_id: page.models.at(-1)?.id ?? null,
  });
}

/** `GET /v1/models/{id}`; ids may contain slashes, percent-encoded or not. Throws CallFailure. */
export function showModel(
  request: Request,
  id: string,
  origin: Pick<CallOrigin, 'address'>,
  deps: CallDeps,
  describe: DescribeModel,
): Response {
  const found = visibleModels(request, origin, deps).find(([name]) => name === id);
  if (found === undefined) {
    throw new CallFailure(
      'not_found',
      `the model ${JSON.stringify(id.slice(0, 256))} does not exist, or this key cannot use it`,
    );
  }
  return replyJson(renderModel(found[0], found[1], describe));
}

/** The models that the calling key may use, with their routes. `keyHeader`: of its key. Throws CallFailure. */
export function visibleModels(
  request: Request,
  origin: Pick<CallOrigin, 'address'>,
  deps: CallDeps,
  keyHeader?: string,
): Array<readonly [string, Route]> {
  const principal: Principal = identify(deps.directory, readCredential(request.headers, true, keyHeader));
  allowCaller(principal, principal.ranges === null ? null : origin.address());
  return [...deps.settings.routes].filter(([, route]) => mayUseModel(principal, route.names));
}

interface RenderedModel {
  readonly id: string;
  readonly [member: string]: unknown;
}

function renderModel(id: string, route: Route, describe: DescribeModel): RenderedModel {
  const known = describe(route);
  const released = known?.released ?? EPOCH;
  return {
    id,
    object: 'model',
    type: 'model',
    created: Date.parse(released) / 1000,
    created_at: `${released}T00:00:00Z`,
    owned_by: route.targets[0].upstream.provider,
    display_name: renderDisplayName(id, route, known?.name ?? null),
    max_input_tokens: known?.inputTokensMax ?? null,
    max_tokens: known?.outputTokensMax ?? null,
    modalities: known?.modalities ?? null,
    capabilities: known === null ? null : Object.fromEntries(known.capabilities.map((name) => [name, true])),
    protocols: route.protocols,
  };
}

/** Model pickers show only this text, so an alias shows its own name and its model's. */
function renderDisplayName(id: string, route: Route, knownName: string | null): string {
  return id === route.model ? (knownName ?? id) : `${id} (${knownName ?? route.model})`;
}

function cutPage(
  models: readonly RenderedModel[],
  query: URLSearchParams,
): { models: readonly RenderedModel[]; more: boolean } {
  const limitText = query.get('limit');
  const limit = limitText === null ? models.length : Number(limitText);
  if (limitText !== null && !(Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX)) {
    throw invalidRequest(
      `limit: found ${JSON.stringify(limitText.slice(0, 40))}; expected an integer from 1 to ${LIMIT_MAX}`,
      'limit',
    );
  }
  const after = findCursor(models, query, 'after_id');
  const before = findCursor(models, query, 'before_id');
  const start = after === null ? 0 : after + 1;
  const end = before ?? models.length;
  const from = before === null ? start : Math.max(start, end - limit);
  const to = before === null ? Math.min(end, start + limit) : end;
  return { models: models.slice(from, to), more: before === null ? to < end : from > start };
}

/**
 * The position of the model that a cursor names; null without that cursor. A cursor that names no model would restart
 * the list.
 */
function findCursor(models: readonly RenderedModel[], query: URLSearchParams, cursor: string): number | null {
  const wanted = query.get(cursor);
  if (wanted === null) return null;
  const index = models.findIndex(({ id }) => id === wanted);
  if (index >= 0) return index;
  throw invalidRequest(
    `${cursor}: found ${JSON.stringify(wanted.slice(0, 256))}; expected the id of a model in this list`,
    cursor,
  );
}
