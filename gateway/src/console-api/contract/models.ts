/** Defines the routes about models, their prices and routes, and the providers that serve them. */

import { z } from 'zod';
import { offeredModelView } from '../../control/routing/routing-shapes.ts';
import { CLIENT_PROTOCOL_NAMES, DEFAULT_PROTOCOL } from '../../protocols/names.ts';
import { explanation, id, nothing, type RouteTable, time } from './row.ts';

/** US dollars per million tokens as decimal text; null: as input or output. */
const rate = z.string().nullable();
const rates = {
  input: rate,
  output: rate,
  cache_read: rate,
  cache_write_5m: rate,
  cache_write_1h: rate,
  reasoning: rate,
  /** Audio, images and cache writes for 30 minutes. Absent: the price of the counter that includes them. */
  audio_input: rate.optional(),
  audio_cache_read: rate.optional(),
  audio_output: rate.optional(),
  image_input: rate.optional(),
  image_output: rate.optional(),
  cache_write_30m: rate.optional(),
};
/** US dollars per 1,000 requests of tools that run upstream, by kind, such as `web_search`. */
const fees = z.record(z.string().max(40), z.string().max(40)).optional();

/** US dollars per unit; images also by size and quality, such as `1024x1024/high`. */
const unit = z.string().max(40);
const units = z
  .strictObject({
    image: z.union([unit, z.record(z.string().max(81), unit)]).optional(),
    second: unit.optional(),
    character: unit.optional(),
    search: unit.optional(),
  })
  .optional();

export const priceView = z.object({
  version: z.string(),
  /** Null: no start, valid for all earlier times. */
  from: time.nullable(),
  free: z.boolean(),
  ...rates,
  per_1000_requests: fees,
  per_unit: units,
  /** Other rates for a whole call with more input tokens than `above`, ascending. */
  tiers: z.array(z.object({ above: z.int(), ...rates })).optional(),
  source: z.enum(['file', 'console', 'catalogue']),
});

const modelView = z.object({
  name: z.string(),
  aliases: z.array(z.string()),
  protocols: z.array(z.enum(CLIENT_PROTOCOL_NAMES)),
  targets: z.array(z.object({ provider: z.string(), model: z.string() })),
  display_name: z.string().nullable(),
  context_tokens: z.int().nullable(),
  output_tokens_max: z.int().nullable(),
  capabilities: z.array(z.string()),
  /** When its first target shuts down. */
  retires: offeredModelView.shape.retires,
  /** The current price; null: unpriced. */
  price: priceView.nullable(),
  /** Every version, newest first. */
  prices: z.array(priceView),
  /** Where the model is defined. The console can't change models defined in the file. */
  source: z.enum(['file', 'environment', 'demo', 'console']),
  /** The number of this account's keys that may call it. */
  keys: z.int(),
});

const providerView = z.object({
  name: id,
  kind: z.string(),
  base_url: z.string(),
  /** As entered in the console; null: it follows from the settings, or is the default of the kind or the configuration's. */
  entered_base_url: z.string().nullable(),
  /** Settings of its kind by name. */
  settings: z.record(z.string(), z.string()),
  source: z.enum(['file', 'environment', 'demo', 'console']),
  /** The last characters of its first secret; null: it has none. */
  last4: z.string().nullable(),
  /** Where its first credential is found at run time, as a title; null: it has secrets of its own, or none. */
  credential_source: z.string().nullable(),
  tested: z.object({ at: time, ok: z.boolean(), message: z.string(), duration_ms: z.number() }).nullable(),
  health: z.object({
    state: z.enum(['healthy', 'failing', 'idle']),
    calls: z.int(),
    errors: z.int(),
    ttfb_p50_ms: z.number().nullable(),
  }),
  models: z.int(),
  /** As entered in the console; empty: those of the catalog, or of the configuration. */
  entered_models: z.array(z.object({ name: z.string(), upstream: z.string() })),
  /** Why a console entry is not used, or only in part, in sentences; null: no problem. */
  problem: z.string().nullable(),
});

/** Secrets by name. */
const credentials = z.record(z.string().max(64), z.string().min(1).max(8_192));
/** Public name and upstream name of each. */
const enteredModels = z
  .array(z.strictObject({ name: z.string().min(1).max(256), upstream: z.string().min(1).max(256) }))
  .max(500);
/** Null: it follows from the settings, or is the default of the kind. */
const baseUrl = z.url().max(2_048).nullable();
/** Settings of its kind by name. */
const settings = z.record(z.string().max(64), z.string().min(1).max(256));

export const modelRoutes = {
  'GET /accounts/{account}/models': {
    summary: 'Lists the models with their prices and the number of keys that may use them.',
    access: 'models.read',
    reply: z.object({
      models: z.array(modelView),
      /** Kinds of tools for which some upstreams charge per request; a price may name others. */
      tool_kinds: z.array(z.string()),
    }),
  },
  'GET /accounts/{account}/models/{model}/dry-run': {
    summary: 'Previews the routing of a request to the model; sends nothing.',
    access: 'models.read',
    query: z.object({ protocol: z.enum(CLIENT_PROTOCOL_NAMES).default(DEFAULT_PROTOCOL), key: id.optional() }),
    reply: z.object({ steps: z.array(z.object({ outcome: z.enum(['goes', 'then', 'stops']), text: z.string() })) }),
  },
  'PUT /accounts/{account}/models/{model}/price': {
    summary: 'Sets the price of a model from a time on; replaces the whole previous price.',
    access: 'operator.write',
    body: z.strictObject({
      from: time.nullable(),
      free: z.boolean(),
      ...rates,
      per_1000_requests: fees,
      per_unit: units,
      tiers: z
        .array(z.strictObject({ above: z.int().min(1), ...rates }))
        .max(20)
        .optional(),
    }),
    /**
     * `left_out`: members that the previous price had and this one lacks, by their paths:
     * `per_1000_requests.web_search`.
     */
    reply: priceView.extend({ left_out: z.array(z.string()) }),
  },
  'GET /accounts/{account}/providers': {
    summary: 'Lists the providers with their health and the last test of their credentials.',
    access: 'operator.read',
    reply: z.object({
      providers: z.array(providerView),
      /** The rule by which a provider counts as failing, in one sentence. */
      health_rule: z.string(),
      kinds: z.array(
        z.object({
          kind: z.string(),
          name: z.string(),
          base_url: z.string().nullable(),
          /** Its address follows from its settings. */
          derives_base_url: z.boolean(),
          /** The secrets that it takes. */
          secrets: z.array(
            z.object({
              name: z.string(),
              title: z.string(),
              hint: z.string().nullable(),
              /** A text of several lines, such as the content of a JSON file. */
              document: z.boolean(),
            }),
          ),
          /** Its settings, which are no secrets. `options`: the only valid values; empty: a text. */
          settings: z.array(
            z.object({ name: z.string(), title: z.string(), hint: z.string(), options: z.array(z.string()) }),
          ),
        }),
      ),
    }),
  },
  'POST /accounts/{account}/providers': {
    summary: 'Adds a provider. Its credentials are encrypted and never returned.',
    access: 'operator.write',
    body: z.strictObject({
      name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lowercase letters, digits and hyphens'),
      kind: z.string().max(64),
      base_url: baseUrl,
      credentials,
      settings: settings.optional(),
      /** The models to serve from it: public name and upstream name. */
      models: enteredModels,
    }),
    reply: providerView,
  },
  'PATCH /accounts/{account}/providers/{provider}': {
    summary:
      'Changes a provider’s address, settings, credentials or models; members that are not given stay. Another address needs `credentials`, and the provider then has no others: stored ones are never sent to an address that they were not entered for. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'operator.write',
    body: z.strictObject({
      base_url: baseUrl.optional(),
      /** Replaces all of them. */
      settings: settings.optional(),
      /** Replaces all secrets of its first credential. */
      credentials: credentials.optional(),
      models: enteredModels.optional(),
      before: z.strictObject({ models: enteredModels }).partial().optional(),
    }),
    reply: providerView,
  },
  'DELETE /accounts/{account}/providers/{provider}': {
    summary: 'Removes a provider.',
    access: 'operator.write',
    reply: nothing,
  },
  'POST /accounts/{account}/providers/{provider}/test': {
    summary:
      'Tests a provider: requests its model list with its first credential, or the named one. With `base_url`, `settings` or `credentials`, tests the provider as a change to these would leave it, and changes nothing.',
    access: 'operator.write',
    body: z.strictObject({
      credential: z.string().max(64).optional(),
      base_url: baseUrl.optional(),
      settings: settings.optional(),
      credentials: credentials.optional(),
    }),
    reply: z.object({
      ok: z.boolean(),
      message: z.string(),
      duration_ms: z.number(),
      models: z.array(offeredModelView),
      /** The provider's list continues after `models`, as `message` says. */
      cut: z.boolean(),
    }),
  },
  'GET /status': {
    summary:
      'Returns the status of the service and its providers (without sign-in only if `server.public_status` is `full`); with a request id, also the outcome of that request.',
    access: 'anyone',
    query: z.object({ request_id: z.string().max(128).optional() }),
    reply: z.object({
      state: z.enum(['ready', 'degraded', 'draining', 'down']),
      problems: z.array(z.string()),
      version: z.string(),
      started_at: time,
      providers: z.array(z.object({ name: z.string(), state: z.enum(['healthy', 'failing', 'idle']) })),
      /** The rule by which a provider counts as failing, in one sentence. */
      health_rule: z.string(),
      /** Null: no id was given, or there is no call with that id. Details require a session that may see them. */
      call: z
        .object({
          request_id: id,
          at: time,
          status: z.int(),
          error: z.string().nullable(),
          /** Why it failed. Names, amounts and the remedy require a session that may see them. Null: nothing to explain. */
          explanation,
          account: id.nullable(),
        })
        .nullable(),
    }),
  },
} as const satisfies RouteTable;
