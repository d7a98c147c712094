/** Owns what a row of the console API's table is: who may call it, what it takes, what it answers. Knows no single route. */
import { z } from 'zod';
import type { Permission } from '../../people/roles.ts';

/**
 * `anyone`: without a session. `person`: whoever is signed in, about himself. A permission: a member of the `{account}` of
 * the path whose role has it, or a key of that account with a scope that stands for it; a `house.` one, of the account
 * `default`.
 */
export type Access = 'anyone' | 'person' | Permission;

export interface RouteRow {
  /** One sentence for the API's description. */
  readonly summary: string;
  readonly access: Access;
  /** Members of the query string: texts, coerced by the schema. */
  readonly query?: z.ZodObject;
  /** A JSON body; a route without one takes none. */
  readonly body?: z.ZodObject;
  /** Where what comes is larger than what strangers may send, and smaller than what others may. */
  readonly bodyBytesMax?: number;
  /** `csv`: the route streams a file instead of JSON. `redirect`: it sends the browser on to another page. */
  readonly reply: z.ZodType | 'csv' | 'redirect';
  /** People only, whatever the scopes of a key. */
  readonly peopleOnly?: true;
  /** Not for who is restricted to workspaces, though in his own he has the permission. */
  readonly wholeAccount?: true;
}

/** `GET /accounts/{account}/keys`: method and path below `/app/api`. */
export type RouteKey = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
export type RouteTable = Readonly<Record<RouteKey, RouteRow>>;

/** Nano-USD as a decimal text: a number of JSON would lose digits. */
export const nanoUsd = z.string().regex(/^-?\d{1,19}$/, 'nano-USD as a decimal text');
/** US dollars as a decimal text with up to nine places, as people type it. */
export const usd = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'US dollars as a decimal text, such as 12.50');
/** Of what calls have none, by commas: no model where none could be read, no member where nobody of them made the key. */
export const without = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(['model', 'provider', 'member', 'end_user', 'session'])).min(1))
  .optional();
/** What people call the key and the member that are filtered by. Who has no name is not in it. */
export const filterLabels = z.array(
  z.object({ filter: z.enum(['key', 'member']), value: z.string(), label: z.string() }),
);
/** ISO 8601 in UTC. */
export const time = z.iso.datetime();
export const id = z.string().min(1).max(128);
/** Names that people give. */
export const givenName = z.string().trim().min(1, 'give a name').max(100, 'at most 100 characters');
export const email = z.email('expected an e-mail address, such as ada@example.com').max(254, 'at most 254 characters');
export const nothing = z.object({});

/** How far a page of a list reached; null: there is no more. Opaque. */
export const cursor = z.string().max(512);

const budgetWindow = z.enum(['day', 'week', 'month', 'total']);

/** The caps of a rule; null: none. */
export const caps = z.object({
  rpm: z.int().min(1).max(1_000_000_000).nullable(),
  tpm: z.int().min(1).max(1_000_000_000).nullable(),
  concurrency: z.int().min(1).max(1_000_000_000).nullable(),
  budget_usd: usd.nullable(),
  budget_window: budgetWindow.nullable(),
});

/** Who set a rule: the operator of the gateway, or the account's own people. The lower cap binds. */
export const limitLayer = z.enum(['operator', 'account']);

/** The caps that a change by the caller reaches, and those of the other layer; null: there is one layer only. */
export const layeredCaps = { layer: limitLayer, caps, other_caps: caps.nullable() };

/** What a cap has left at this moment. Amounts in its own unit: requests, tokens, calls, nano-USD as text. */
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

export const status = z.enum(['active', 'disabled', 'revoked', 'expired']);
export const role = z.enum(['owner', 'admin', 'billing', 'developer', 'viewer']);
