/** Lists the objects that a workspace created, from its rows: the provider's own list has those of all workspaces. */
import { invalidRequest } from '../../errors/call-failure.ts';
import type { StoredKind } from '../../protocols/stored/stored-references.ts';
import type { StoredPage, StoredRow } from '../../store/ports/stored-state.ts';
import { listedBatch } from '../batches/batch-object.ts';
import type { Identified } from '../call.ts';
import { findRows, keyOf } from '../stored/lead-to-stored.ts';
import { isOldestFirst } from '../stored/read-order.ts';
import { readSafely } from '../stored/read-safely.ts';
import { targetsWith } from './choose-place.ts';
import { type AskedObject, missingObject, noCollection, OBJECT_ROUTES } from './object-routes.ts';

/** How each format limits a page. Sources: OpenAI's and Anthropic's references (2026-11-23). */
const LIMITS = {
  responses: { default: 10_000, most: 10_000 },
  messages: { default: 20, most: 1_000 },
} as const;

/** A page has no more rows, whatever the limit: `has_more` says that others follow. It bounds the memory of a reply. */
const ROWS_MAX = 1_000;

/** Members of the query that only one of them has. */
const OWN_QUERY = {
  responses: ['order', 'after', 'purpose'],
  messages: ['after_id', 'before_id', 'page', 'ids', 'ids[]'],
} as const;

/** Where a page begins. */
const CURSORS = ['after_id', 'before_id', 'page'] as const;

type ListFormat = keyof typeof LIMITS;

const OF_BATCHES = { default: 20, most: 100 };
/** Fewer in a page, because the provider may have to be asked for each; and so many are asked for at once. */
const BATCHES_MAX = 100;
const AT_ONCE = 8;

/** The reply as JSON, in the client's format. Throws CallFailure. */
export async function listObjects(call: Identified, { object, query }: AskedObject): Promise<string> {
  const { deps, principal, protocol } = call;
  const { kind } = OBJECT_ROUTES[object.collection];
  const providers = [...new Set(targetsWith(call, object.collection).map(({ upstream }) => upstream.provider))];
  if (providers.length === 0) throw noCollection(object.collection);
  const format = protocol.name === 'messages' ? 'messages' : 'responses';
  refuseOthers(query, format);
  const [one, other] = CURSORS.filter((name) => query.has(name));
  if (other !== undefined) throw invalidRequest(`${other}: a page has one place, and ${one} names another`, other);
  const limits = kind === 'batch' && format === 'responses' ? OF_BATCHES : LIMITS[format];
  const limit = Math.min(kind === 'batch' ? BATCHES_MAX : ROWS_MAX, readLimit(query.get('limit'), limits));
  const before = query.get('before_id');
  const after = query.get('after') ?? query.get('after_id');
  const page: StoredPage = {
    kind,
    providers,
    purpose: query.get('purpose'),
    first: before !== null || isOldestFirst(query) ? 'oldest' : 'newest',
    // The page after another is named by the request that created the last row of it.
    after: query.get('page') ?? (await cursorOf(call, before ?? after, object.collection)),
    limit: limit + 1,
  };
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const ids = [...query.getAll('ids'), ...query.getAll('ids[]')];
  if (ids.length > 0) return renderList(await listNamed(call, kind, providers, ids), false, format);
  const found = await readSafely(() => deps.storedState.list(owner, page, Date.now()));
  const rows = found.slice(0, limit);
  if (before !== null) rows.reverse();
  const shown = kind === 'batch' ? await listBatches(call, rows) : rows;
  return renderList(shown, found.length > limit, format);
}

async function listBatches(call: Identified, rows: readonly StoredRow[]): Promise<readonly StoredRow[]> {
  const shown: StoredRow[] = [];
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    shown.push(...(await Promise.all(rows.slice(from, from + AT_ONCE).map((row) => listedBatch(call, row)))));
  }
  return shown;
}

function refuseOthers(query: URLSearchParams, format: ListFormat): void {
  const others: readonly string[] = OWN_QUERY[format === 'responses' ? 'messages' : 'responses'];
  const name = others.find((one) => query.has(one));
  if (name !== undefined) throw invalidRequest(`${name}: found an unknown member of the query; leave it out`, name);
}

const IDS_MAX = 100;

/** The rows of a list with these ids, in their order; others are left out. */
async function listNamed(
  call: Identified,
  kind: StoredKind,
  providers: readonly string[],
  ids: readonly string[],
): Promise<readonly StoredRow[]> {
  if (ids.length > IDS_MAX) throw invalidRequest(`ids: found ${ids.length}; expected at most ${IDS_MAX}`, 'ids');
  const named = ids.map((id) => ({ kind, id, path: 'ids' }) as const);
  const rows = await findRows(call, named);
  const found = named.flatMap((one) => rows.get(keyOf(one)) ?? []);
  return [...new Set(found)].filter(({ object, provider }) => object !== null && providers.includes(provider));
}

function readLimit(text: string | null, limits: { readonly default: number; readonly most: number }): number {
  if (text === null) return limits.default;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.most) return limit;
  throw invalidRequest(
    `limit: found ${JSON.stringify(text.slice(0, 40))}; expected an integer from 1 to ${limits.most}`,
    'limit',
  );
}

/** The request that created the object with the id; null: no id. */
async function cursorOf(
  call: Identified,
  id: string | null,
  collection: AskedObject['object']['collection'],
): Promise<string | null> {
  if (id === null) return null;
  const named = { kind: OBJECT_ROUTES[collection].kind, id, path: 'after' };
  const row = (await findRows(call, [named])).get(keyOf(named));
  if (row === undefined) throw missingObject(collection);
  return row.request_id;
}

/** The objects are as the provider wrote them. */
function renderList(rows: readonly StoredRow[], has_more: boolean, format: ListFormat): string {
  const last = rows.at(-1);
  const next = format === 'messages' ? { next_page: has_more ? (last?.request_id ?? null) : null } : {};
  const ends = { first_id: rows[0]?.id ?? null, last_id: last?.id ?? null, has_more, ...next };
  const head = format === 'responses' ? '"object":"list",' : '';
  return `{${head}"data":[${rows.map(({ object }) => object).join(',')}],${JSON.stringify(ends).slice(1)}`;
}
