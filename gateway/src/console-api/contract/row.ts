/** Defines the shape of a row in the console API's route table, and the schemas that the routes share. */
import { z } from 'zod';
import { HIDDEN_IN_NAME } from '../../lib/hidden-characters.ts';
import { NAME_CHARACTERS_MAX } from '../../people/person-name.ts';
import type { Permission } from '../../people/roles.ts';
import { RECORDED_PROTOCOLS } from '../../protocols/names.ts';

/**
 * `anyone`: no session is needed. `person`: any signed-in user, about themselves. A permission: a member of the
 * `{account}` in the path whose role has it, or a key of that account with a scope that includes it; an `operator.`
 * permission applies to the account `default`.
 */
export type Access = 'anyone' | 'person' | Permission;

export interface RouteRow {
  /** One sentence for the API's description. */
  readonly summary: string;
  readonly access: Access;
  /** Members of the query string: strings, coerced by the schema. */
  readonly query?: z.ZodObject;
  /** A JSON body; a route without one accepts none. */
  readonly body?: z.ZodObject;
  /** Another limit than the usual one. */
  readonly bodyBytesMax?: number;
  /** `csv`: the route streams a file instead of JSON. `redirect`: it redirects the browser to another page. */
  readonly reply: z.ZodType | 'csv' | 'redirect';
  /** Users only, whatever the scopes of a key. */
  readonly peopleOnly?: true;
  /** Refused to members restricted to workspaces, even if they have the permission in their own. */
  readonly wholeAccount?: true;
}

/** `GET /accounts/{account}/keys`: method and path below `/app/api`. */
export type RouteKey = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
export type RouteTable = Readonly<Record<RouteKey, RouteRow>>;

/** Nano-USD as decimal text: a JSON number would lose digits. */
export const nanoUsd = z.string().regex(/^-?\d{1,19}$/, 'nano-USD as a decimal text');
/** US dollars as decimal text with up to nine decimal places, as users type it. */
export const usd = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'US dollars as a decimal text, such as 12.50');
/** ISO 8601 in UTC. */
export const time = z.iso.datetime();
export const id = z.string().min(1).max(128);
/**
 * Dimensions that have no value in the matching calls, separated by commas. `model`: no model could be read; `member`:
 * no member of the account created the key.
 */
const without = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(['model', 'provider', 'member', 'end_user', 'session'])).min(1))
  .optional();
/** The values of the requests that a page is about. */
export const callFilters = {
  model: z.string().max(256).optional(),
  provider: z.string().max(128).optional(),
  key: id.optional(),
  /** The member who created the key. */
  member: id.optional(),
  workspace: id.optional(),
  end_user: z.string().max(64).optional(),
  session: z.string().max(256).optional(),
  protocol: z.enum(RECORDED_PROTOCOLS).optional(),
  without,
};
/** Display names of the filtered key and member. Those without a name are omitted. */
export const filterLabels = z.array(
  z.object({ filter: z.enum(['key', 'member']), value: z.string(), label: z.string() }),
);
/** Why a request ended as it did: one sentence, and the page of the console that mends it. */
export const explanation = z
  .object({ sentence: z.string(), remedy: z.object({ label: z.string(), page: z.string() }).nullable() })
  .nullable();
/** Names given by users. */
export const givenName = z
  .string()
  .trim()
  .min(1, 'enter a name')
  .max(NAME_CHARACTERS_MAX, `at most ${NAME_CHARACTERS_MAX} characters`)
  .refine((name) => name.search(HIDDEN_IN_NAME) === -1, 'found a line break or an invisible character; leave it out');
export const email = z.email('expected an email address, such as ada@example.com').max(254, 'at most 254 characters');
export const nothing = z.object({});

/** The position after a page of a list, opaque; null: there are no more pages. */
export const cursor = z.string().max(512);

const budgetWindow = z.enum(['day', 'week', 'month', 'total']);

/** The caps of a rule; null: no cap. */
export const caps = z.object({
  rpm: z.int().min(1).max(1_000_000_000).nullable(),
  tpm: z.int().min(1).max(1_000_000_000).nullable(),
  concurrency: z.int().min(1).max(1_000_000_000).nullable(),
  budget_usd: usd.nullable(),
  budget_window: budgetWindow.nullable(),
});

/** Who set a rule: the operator of the gateway or the account's members. The lower cap applies. */
export const limitLayer = z.enum(['operator', 'account']);

/** The caps that the caller's changes apply to, and those of the other layer; null: there is one layer only. */
export const layeredCaps = { layer: limitLayer, caps, other_caps: caps.nullable() };

/** The current state of a cap, in its own unit: requests, tokens, calls, or nano-USD as text. */
export const gauge = z.object({
  subject: z.object({ kind: z.enum(['key', 'end_user', 'workspace', 'account', 'model']), id: z.string() }),
  layer: limitLayer,
  sort: z.enum(['rpm', 'tpm', 'concurrency', 'budget']),
  limit: z.string(),
  used: z.string(),
  held: z.string(),
  window: budgetWindow.nullable(),
  resets_at: time.nullable(),
});

/** Data tags that targets must carry. */
export const dataTags = z.array(z.string().min(1).max(32)).max(20);

/** `ownerless`: the key’s creator may no longer create keys in its workspace, so it does not work. */
export const status = z.enum(['active', 'disabled', 'revoked', 'expired', 'ownerless']);
export const role = z.enum(['owner', 'admin', 'billing', 'developer', 'viewer']);
