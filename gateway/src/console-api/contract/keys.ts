/** Defines the routes about API keys. */

import { z } from 'zod';
import { CLIENT_PROTOCOL_NAMES, DEFAULT_PROTOCOL } from '../../protocols/names.ts';
import { caps, dataTags, gauge, id, layeredCaps, nanoUsd, nothing, type RouteTable, status, time } from './row.ts';

/** The most keys that one request changes. */
const KEYS_MAX = 200;
const scope = z.enum(['inference', 'usage', 'admin']);
const patterns = z.array(z.string().min(1).max(256)).min(1).max(200).nullable();
const addresses = z.array(z.string().min(1).max(64)).min(1).max(200).nullable();

const keyView = z.object({
  id,
  name: z.string(),
  last4: z.string(),
  workspace: id,
  /** The member who created the key; null: the command line or the first start. */
  owner: z.object({ id, name: z.string() }).nullable(),
  models: patterns,
  ips: addresses,
  scopes: z.array(scope),
  /** Refuses a request that translation between the formats would change. */
  strict: z.boolean(),
  /** Data tags, such as `eu`, that every target of its requests must carry, besides those of its workspace. */
  required_tags: z.array(z.string()),
  /** Name → value: what the account sorts its keys by. */
  tags: z.record(z.string(), z.string()),
  ...layeredCaps,
  status,
  /**
   * While the key is disabled: who disabled it, where known. That person, or anyone who may set limits, can enable it.
   */
  disabled_by: z.object({ id, name: z.string() }).nullable(),
  created_at: time,
  expires_at: time.nullable(),
  /** During the grace period of a rotation: when the old secret stops working, and when each secret was last used. */
  rotation: z
    .object({
      old_last4: z.string().nullable(),
      ends_at: time,
      old_used_at: time.nullable(),
      new_used_at: time.nullable(),
    })
    .nullable(),
  last_used: z.object({ at: time, client: z.string().nullable() }).nullable(),
  /** Settled and held amounts in the current window of the key's own budget; null: it has no budget. */
  budget: z.object({ used_nano_usd: nanoUsd, held_nano_usd: nanoUsd, limit_nano_usd: nanoUsd }).nullable(),
  /** Cost of the last seven days, oldest first. */
  week_nano_usd: z.array(nanoUsd).length(7),
  week_requests: z.array(z.int()).length(7),
});

/** As long as on the command line: names that it gave can be edited here. */
const keyName = z.string().trim().min(1, 'enter a name').max(128, 'at most 128 characters');
const given = {
  name: keyName,
  workspace: id,
  models: patterns,
  ips: addresses,
  scopes: z.array(scope).min(1),
  strict: z.boolean(),
  caps,
  expires_at: time.nullable(),
  required_tags: dataTags.optional(),
};
const tagValue = z.string().min(1).max(100);
/** As in a JSON merge patch: null removes a tag, tags that are not named stay. */
const tagChanges = z.record(z.string(), tagValue.nullable());
const shown = z.object({ key: keyView, secret: z.string() });

export const keyRoutes = {
  'GET /accounts/{account}/keys': {
    summary: 'Lists the API keys of an account, newest first.',
    access: 'keys.read',
    reply: z.object({ keys: z.array(keyView), workspaces: z.array(id) }),
  },
  'POST /accounts/{account}/keys': {
    summary: 'Creates an API key. Only this response contains its secret.',
    access: 'keys.write',
    body: z.strictObject({ ...given, tags: z.record(z.string(), tagValue).optional() }),
    reply: shown,
  },
  'POST /accounts/{account}/playground-key': {
    summary:
      'Creates the playground key of the caller in a workspace, or replaces its secret; it expires after 12 hours.',
    access: 'keys.write',
    body: z.strictObject({ workspace: id }),
    reply: z.object({ key: z.object({ id, last4: z.string() }), secret: z.string(), expires_at: time }),
    peopleOnly: true,
  },
  'GET /accounts/{account}/keys/{key}': {
    summary: 'Returns an API key with its usage, latest errors and latest changes.',
    access: 'keys.read',
    reply: z.object({
      key: keyView,
      /** The last thirty days in the account's time zone, oldest first. Errors are counted as in usage. */
      days: z.array(
        z.object({
          day: z.string(),
          from: time,
          to: time,
          requests: z.int(),
          errors: z.int(),
          cost_nano_usd: nanoUsd,
        }),
      ),
      errors: z.array(
        z.object({
          request_id: id,
          at: time,
          status: z.int(),
          error: z.string().nullable(),
          model: z.string().nullable(),
        }),
      ),
      audit: z.array(z.object({ at: time, actor: z.string(), act: z.string() })),
      /** Calls in the last hour, which shows what a revocation would stop. */
      hour_requests: z.int(),
    }),
  },
  'GET /accounts/{account}/keys/{key}/gauges': {
    summary: 'Lists the limits that apply to a key, with what remains of each.',
    access: 'keys.read',
    reply: z.object({ gauges: z.array(gauge) }),
  },
  'PATCH /accounts/{account}/keys/{key}': {
    summary:
      'Changes a key; omitted members stay. Without limits.write its limits can only be lowered. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'keys.write',
    body: z
      .strictObject({
        ...given,
        caps: caps.partial(),
        tags: tagChanges,
        before: z
          .strictObject({ models: patterns, ips: addresses, scopes: given.scopes, required_tags: dataTags })
          .partial(),
      })
      .partial(),
    reply: keyView,
  },
  'POST /accounts/{account}/keys/bulk': {
    summary:
      'Disables, enables, revokes or changes up to 200 keys, all or none; each key needs the rights that changing it alone needs.',
    access: 'keys.write',
    body: z.strictObject({
      keys: z.array(id).min(1, 'found no key, expected at least one').max(KEYS_MAX, `at most ${KEYS_MAX} keys`),
      action: z.enum(['disable', 'enable', 'revoke', 'set']),
      /** Only with the action `set`. */
      set: z.strictObject({ tags: tagChanges, expires_at: time.nullable(), caps: caps.partial() }).partial().optional(),
    }),
    reply: z.object({ keys: z.array(keyView) }),
  },
  'GET /accounts/{account}/key-requests': {
    summary: 'Counts the requests of the last hour that used these keys, which shows what disabling them would stop.',
    access: 'keys.read',
    /** Ids, separated by commas. */
    query: z.object({
      keys: z
        .string()
        .max(16_000)
        .transform((text) => text.split(','))
        .pipe(z.array(id).min(1).max(KEYS_MAX)),
    }),
    reply: z.object({ hour_requests: z.int() }),
  },
  'POST /accounts/{account}/keys/{key}/rotate': {
    summary: 'Replaces the secret of a key; the old one works until the grace period ends.',
    access: 'keys.write',
    body: z.strictObject({ grace: z.enum(['now', '1h', '24h', '7d']) }),
    reply: shown,
  },
  'POST /accounts/{account}/keys/{key}/disable': {
    summary: 'Disables a key until it is enabled.',
    access: 'keys.write',
    body: nothing,
    reply: keyView,
  },
  'POST /accounts/{account}/keys/{key}/enable': {
    summary: 'Enables a disabled key; if another member disabled it, this needs limits.write.',
    access: 'keys.write',
    body: nothing,
    reply: keyView,
  },
  'POST /accounts/{account}/keys/{key}/revoke': {
    summary: 'Revokes a key permanently.',
    access: 'keys.write',
    body: nothing,
    reply: keyView,
  },
  'GET /accounts/{account}/keys/{key}/may-call': {
    summary: 'Checks whether a key may use a model now, with the reasons.',
    access: 'keys.read',
    query: z.object({
      model: z.string().min(1).max(256),
      protocol: z.enum(CLIENT_PROTOCOL_NAMES).default(DEFAULT_PROTOCOL),
    }),
    reply: z.object({ may: z.boolean(), reasons: z.array(z.object({ passes: z.boolean(), text: z.string() })) }),
  },
  'GET /accounts/{account}/model-matches': {
    summary: 'Lists the models that match name patterns.',
    access: 'models.read',
    query: z.object({ patterns: z.string().max(8_000), workspace: id.optional() }),
    reply: z.object({ models: z.array(z.string()) }),
  },
} as const satisfies RouteTable;
