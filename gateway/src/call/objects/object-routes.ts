/**
 * Lists the routes of objects that clients create at providers, and reads the requests to them. Sources: OpenAI's reference
 * of files and conversations, Anthropic's of files (2026-11-23); other-endpoints.md, 3.8.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { queryOf } from '../../lib/query/url-query.ts';
import type { Collection, ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { StoredKind } from '../../protocols/stored/stored-references.ts';

/**
 * `create` from a form or JSON; `list` from the rows; `pass` a request without a body; `change` with one; `content`: bytes;
 * `delete` the object and its row; `show` and `cancel` a batch.
 */
type Act = 'create' | 'list' | 'pass' | 'change' | 'content' | 'delete' | 'show' | 'cancel';

interface ObjectRoute {
  readonly method: ObjectRequest['method'];
  /** The path below the collection; `ID` stands for any id. */
  readonly path: string;
  readonly act: Act;
  /** The members of the query that are known. */
  readonly query?: readonly string[];
}

interface CollectionRoutes {
  /** The kind of its rows. */
  readonly kind: StoredKind;
  /** A name for one object. */
  readonly noun: string;
  /** The body of `create` is a form. */
  readonly isForm: boolean;
  /** What to do where no provider has it. */
  readonly advice: string;
  readonly routes: readonly ObjectRoute[];
}

/** Of OpenAI and of Anthropic. */
const OF_LIST = ['limit', 'order', 'after', 'purpose', 'after_id', 'before_id', 'page', 'ids', 'ids[]'];
const OF_ITEMS = ['limit', 'order', 'after', 'include', 'include[]'];

export const OBJECT_ROUTES: { readonly [collection in Collection]: CollectionRoutes } = {
  files: {
    kind: 'file',
    noun: 'file',
    isForm: true,
    advice: 'files are off by default: the operator opens them with "files: on" at a provider',
    routes: [
      { method: 'POST', path: '', act: 'create' },
      { method: 'GET', path: '', act: 'list', query: OF_LIST },
      { method: 'GET', path: '/ID', act: 'pass' },
      { method: 'DELETE', path: '/ID', act: 'delete' },
      { method: 'GET', path: '/ID/content', act: 'content' },
    ],
  },
  batches: {
    kind: 'batch',
    noun: 'batch',
    isForm: false,
    advice: 'batches are off by default: the operator opens them with "files: on" at a provider',
    routes: [
      { method: 'GET', path: '', act: 'list', query: ['limit', 'after', 'after_id', 'before_id'] },
      { method: 'GET', path: '/ID', act: 'show' },
      { method: 'POST', path: '/ID/cancel', act: 'cancel' },
      { method: 'DELETE', path: '/ID', act: 'delete' },
      { method: 'GET', path: '/ID/results', act: 'content' },
    ],
  },
  conversations: {
    kind: 'conversation',
    noun: 'conversation',
    isForm: false,
    advice: 'it takes a model of a provider that keeps conversations, such as OpenAI or Azure',
    routes: [
      { method: 'POST', path: '', act: 'create', query: ['include', 'include[]'] },
      { method: 'GET', path: '/ID', act: 'pass' },
      { method: 'POST', path: '/ID', act: 'change' },
      { method: 'DELETE', path: '/ID', act: 'delete' },
      { method: 'GET', path: '/ID/items', act: 'pass', query: OF_ITEMS },
      { method: 'POST', path: '/ID/items', act: 'change', query: ['include', 'include[]'] },
      { method: 'GET', path: '/ID/items/ID', act: 'pass', query: ['include', 'include[]'] },
      { method: 'DELETE', path: '/ID/items/ID', act: 'pass' },
    ],
  },
};

/** Whether its rows keep the objects, for lists. */
export function isListed(collection: Collection): boolean {
  return OBJECT_ROUTES[collection].routes.some(({ act }) => act === 'list');
}

/** A request to one of the routes. */
export interface AskedObject {
  readonly act: Act;
  /** Empty: the collection. */
  readonly id: string;
  readonly object: ObjectRequest & { readonly collection: Collection };
  /** The object itself is named, not something in it. */
  readonly isWhole: boolean;
  readonly query: URLSearchParams;
}

/** Never `..`: a provider would read another path. */
const ID = /^\w[\w.-]{0,255}$/;

/**
 * Reads a request; `rest` is the path below the collection. Throws CallFailure `not_found`, `method_not_allowed` or
 * `invalid_request` for a member of the query.
 */
export function readAskedObject(request: Request, collection: Collection, rest: string): AskedObject {
  const { method } = request;
  const segments = rest === '' ? [] : rest.split('/');
  const [id = ''] = segments;
  const ids = segments.filter((_, index) => index % 2 === 0);
  const form = segments.map((segment, index) => `/${index % 2 === 0 ? 'ID' : segment}`).join('');
  const here = ids.every((one) => ID.test(one))
    ? OBJECT_ROUTES[collection].routes.filter(({ path }) => path === form)
    : [];
  if (here.length === 0) throw missingObject(collection);
  const route = here.find((one) => one.method === method);
  if (route === undefined) {
    const allow = here.map((one) => one.method).join(', ');
    const message = `${method.slice(0, 20)} is not allowed for this path; use ${allow}`;
    throw new CallFailure('method_not_allowed', message, { allow });
  }
  const query = readQuery(queryOf(request), route.query ?? []);
  const path = segments.map((segment) => `/${segment}`).join('');
  const object = { method: route.method, collection, path, query: query.toString() };
  return { act: route.act, id, object, isWhole: segments.length === 1, query };
}

/** Anthropic's SDKs mark their betas in the query. */
const BETA = 'beta';

function readQuery(given: URLSearchParams, known: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of given) {
    if (name !== BETA && !known.includes(name)) {
      const shown = name.slice(0, 80);
      throw invalidRequest(`${shown}: found an unknown member of the query; leave it out`, shown);
    }
    query.append(name, value);
  }
  return query;
}

/** The same for an unknown object, one of another workspace, and one whose provider is gone or closed. */
export function missingObject(collection: Collection): CallFailure {
  return new CallFailure('not_found', `this ${OBJECT_ROUTES[collection].noun} is not stored for this workspace`);
}

/** No provider that the caller may use has the collection. */
export function noCollection(collection: Collection): CallFailure {
  return new CallFailure(
    'not_found',
    `there are no ${collection} here for this key; ${OBJECT_ROUTES[collection].advice}`,
  );
}
