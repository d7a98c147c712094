/** Defines the routes about saved views of the list of requests: personal ones, and those that the account shares. */
import { z } from 'zod';
import { SORTS } from '../../lib/query/call-order.ts';
import { QUERY_CHARS_MAX } from '../query/parse-query.ts';
import { callColumns } from './logs.ts';
import { givenName, id, nothing, type RouteTable, time } from './row.ts';

const value = z.string().min(1).max(1_024);

/** The members of the address of the page, as they are written there. */
export const viewSearch = z.strictObject({
  q: z.string().min(1).max(QUERY_CHARS_MAX).optional(),
  range: z.string().min(1).max(40).optional(),
  from: time.optional(),
  to: time.optional(),
  sort: z.enum(SORTS.flatMap((field) => [field, `-${field}` as const])).optional(),
  /** Names of columns, separated by commas. */
  columns: callColumns.optional(),
  view: z.literal('reasons').optional(),
  reason: value.optional(),
  model: value.optional(),
  provider: value.optional(),
  key: value.optional(),
  member: value.optional(),
  workspace: value.optional(),
  end_user: value.optional(),
  session: value.optional(),
  protocol: value.optional(),
  outcome: value.optional(),
  without: value.optional(),
});

export type ViewSearch = z.output<typeof viewSearch>;

const savedView = z.object({
  id,
  name: z.string(),
  /** For everyone in the account, with its name and filters; each reader sees their own requests. */
  shared: z.boolean(),
  /** Whether the caller may change and delete it. */
  editable: z.boolean(),
  search: viewSearch,
});

export const savedViewRoutes = {
  'GET /accounts/{account}/views': {
    summary: 'Lists the caller’s saved views of requests and those that the account shares, by name.',
    access: 'logs.read',
    peopleOnly: true,
    reply: z.object({
      views: z.array(savedView),
      /** The view on the caller’s home page; null: none. */
      pinned: id.nullable(),
    }),
  },
  'POST /accounts/{account}/views': {
    summary: 'Saves a view of requests: its query, filters, columns and order.',
    access: 'logs.read',
    peopleOnly: true,
    body: z.strictObject({ name: givenName, shared: z.boolean(), search: viewSearch }),
    reply: z.object({ id }),
  },
  'PATCH /accounts/{account}/views/{view}': {
    summary: 'Renames, shares or replaces a saved view.',
    access: 'logs.read',
    peopleOnly: true,
    body: z.strictObject({
      name: givenName.optional(),
      shared: z.boolean().optional(),
      search: viewSearch.optional(),
    }),
    reply: z.object({ id }),
  },
  'DELETE /accounts/{account}/views/{view}': {
    summary: 'Deletes a saved view.',
    access: 'logs.read',
    peopleOnly: true,
    reply: nothing,
  },
  'PUT /accounts/{account}/pinned-view': {
    summary: 'Shows a saved view on the caller’s home page, or none.',
    access: 'logs.read',
    peopleOnly: true,
    body: z.strictObject({ view: id.nullable() }),
    reply: nothing,
  },
} as const satisfies RouteTable;
