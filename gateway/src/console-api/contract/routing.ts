/** Defines the routes about routing: routes and their targets, pools of credentials, live states, and the preview. */
import { z } from 'zod';
import { changedDefinition, newDefinition, shownDefinition } from '../../control/routing/route-definition.ts';
import { CLIENT_PROTOCOL_NAMES } from '../../protocols/names.ts';
import { id, nanoUsd, nothing, type RouteTable, time } from './row.ts';

const source = z.enum(['file', 'environment', 'demo', 'console']);
const modelName = z.string().min(1).max(256);
const targetName = z.string().min(1).max(400);

const routeView = z.object({
  model: z.string(),
  /** Where it is defined. Only routes of the console can be changed here; the file takes precedence. */
  source,
  /** False: the entry is not used; `problem` says why. */
  served: z.boolean(),
  aliases: z.array(z.string()),
  protocols: z.array(z.enum(CLIENT_PROTOCOL_NAMES)),
  /** The policy that applies, defaults included; null: the entry is not used. */
  routing: z
    .object({
      strategy: z.enum(['order', 'weight', 'latency', 'price']),
      affinity: z.enum(['session', 'prefix', 'off']),
      max_extra_attempts: z.int(),
      /** US dollars as decimal text. */
      uncertain_retry: z.string(),
      fallback_on: z.array(z.enum(['overflow', 'policy'])),
    })
    .nullable(),
  /** In the order of their definition, those out of rotation included. */
  targets: z.array(
    z.object({
      name: z.string(),
      provider: z.string(),
      /** The model's name there. */
      model: z.string(),
      priority: z.int(),
      weight: z.int().nullable(),
      max_concurrency: z.int().nullable(),
      tags: z.array(z.string()),
      /** Null: it answers inside the gateway. */
      timeouts_ms: z
        .object({
          connect: z.number(),
          first_byte: z.number(),
          first_byte_plain: z.number(),
          idle: z.number(),
          total: z.number(),
        })
        .nullable(),
      /** Whether it has a price before that of the model. */
      has_own_price: z.boolean(),
      /** Null: it is in rotation. */
      out_of_rotation_since: time.nullable(),
    }),
  ),
  /** The members as they were entered, which a change replaces one by one; null: it was not entered in the console. */
  definition: shownDefinition.nullable(),
  /** Why the entry is not used, or only in part, in sentences; null: no problem. */
  problem: z.string().nullable(),
});

/** Secrets by name, as `kinds` of the provider list names them. */
const secrets = z.record(z.string().max(64), z.string().min(1).max(8_192));
const credentialSettings = {
  /** Its share of new conversations; 0: only when no other can be used. */
  weight: z.int().min(0).max(1_000),
  /** Credentials of one organization share limits and caches; null: the provider's only one. */
  organisation: z.string().min(1).max(100).nullable(),
  /** Models at the provider that it may be used for; null: all. */
  models: z.array(z.string().min(1).max(256)).min(1).max(500).nullable(),
};
const credentialView = z.object({
  provider: z.string(),
  name: z.string(),
  source,
  /** The last characters of its first secret; empty for a short one; null: it has none. */
  last4: z.string().nullable(),
  weight: z.int(),
  organisation: z.string().nullable(),
  models: z.array(z.string()).nullable(),
  /** Null: it is in rotation. */
  out_of_rotation_since: time.nullable(),
  /** Null: it is not the console's. */
  created_at: time.nullable(),
  updated_at: time.nullable(),
});

export const routingRoutes = {
  'GET /accounts/{account}/routes': {
    summary: 'Lists the routes: each served model with its targets, and the entries that are not used.',
    access: 'operator.read',
    reply: z.object({ routes: z.array(routeView) }),
  },
  'GET /accounts/{account}/routes/{model}': {
    summary: 'Returns the route of a model, by any of its public names.',
    access: 'operator.read',
    reply: routeView,
  },
  'POST /accounts/{account}/routes': {
    summary:
      'Creates a route; it replaces a model that its provider serves without one. Applies from the next request.',
    access: 'operator.write',
    body: z.strictObject({ model: modelName, ...newDefinition }),
    reply: routeView,
  },
  'PATCH /accounts/{account}/routes/{model}': {
    summary: 'Changes a route: given members are replaced, null removes one, omitted ones stay.',
    access: 'operator.write',
    body: z.strictObject(changedDefinition),
    reply: routeView,
  },
  'DELETE /accounts/{account}/routes/{model}': {
    summary: 'Removes a route; the model goes back to what its provider serves, if it does.',
    access: 'operator.write',
    reply: nothing,
  },
  'POST /accounts/{account}/routes/{model}/rotation': {
    summary: 'Takes a target of a model out of rotation, or puts it back; stays so over a restart.',
    access: 'operator.write',
    body: z.strictObject({ target: targetName, in_rotation: z.boolean() }),
    reply: routeView,
  },
  'GET /accounts/{account}/providers/{provider}/credentials': {
    summary: 'Lists the credentials of a provider, without their secrets.',
    access: 'operator.read',
    reply: z.object({ credentials: z.array(credentialView) }),
  },
  'POST /accounts/{account}/providers/{provider}/credentials': {
    summary: 'Adds a credential to the pool of a provider. Its secrets are encrypted and never returned.',
    access: 'operator.write',
    body: z.strictObject({
      name: z.string().min(1).max(64),
      secrets,
      weight: credentialSettings.weight.optional(),
      organisation: credentialSettings.organisation.optional(),
      models: credentialSettings.models.optional(),
    }),
    reply: credentialView,
  },
  'PATCH /accounts/{account}/providers/{provider}/credentials/{credential}': {
    summary: 'Changes the settings of a credential; omitted members stay.',
    access: 'operator.write',
    body: z.strictObject(credentialSettings).partial(),
    reply: credentialView,
  },
  'POST /accounts/{account}/providers/{provider}/credentials/{credential}/replace': {
    summary: 'Replaces the secrets of a credential; applies from the next request.',
    access: 'operator.write',
    body: z.strictObject({ secrets }),
    reply: credentialView,
  },
  'POST /accounts/{account}/providers/{provider}/credentials/{credential}/rotation': {
    summary: 'Takes a credential out of rotation, or puts it back; stays so over a restart.',
    access: 'operator.write',
    body: z.strictObject({ in_rotation: z.boolean() }),
    reply: credentialView,
  },
  'DELETE /accounts/{account}/providers/{provider}/credentials/{credential}': {
    summary: 'Removes a credential.',
    access: 'operator.write',
    reply: nothing,
  },
  'GET /accounts/{account}/routing/states': {
    summary: 'Returns the live states of providers, targets and credentials, with the reasons and ends of pauses.',
    access: 'operator.read',
    reply: z.object({
      at: time,
      providers: z.array(
        z.object({
          name: z.string(),
          state: z.enum(['healthy', 'failing', 'idle']),
          /** Over the last 15 minutes. */
          calls: z.int(),
          errors: z.int(),
          ttfb_p50_ms: z.number().nullable(),
        }),
      ),
      /**
       * Targets that were used since the start, that are out of rotation, or that share a model with others. All others
       * are closed. Targets of several routes with the same provider and model share their state.
       */
      targets: z.array(
        z.object({
          model: z.string(),
          target: z.string(),
          provider: z.string(),
          upstream_model: z.string(),
          /** `open`: no calls. `half_open`: the next call probes. `benched`: the provider does not know the model. */
          state: z.enum(['closed', 'open', 'half_open', 'benched', 'out']),
          /** When it is probed. */
          until: time.nullable(),
          /** The class of its last failure. */
          why: z.string().nullable(),
          /** Faults among its last outcomes, up to a hundred. */
          faults: z.int(),
          outcomes: z.int(),
          /** How often its breaker opened since the start. */
          trips: z.int(),
          /** The part of its usual share that it takes: less than 1 in the seconds after it closed. */
          share: z.number(),
          open_calls: z.int(),
          /** Of these, the ones that should have answered by now. */
          overdue_calls: z.int(),
          /** Retries at the same target that its budget still pays for. */
          retries_left: z.int(),
          /** Expected time to the first content. */
          latency_ms: z.number().nullable(),
        }),
      ),
      credentials: z.array(
        z.object({
          provider: z.string(),
          name: z.string(),
          /** `cooling`: paused for some models after a rate limit. `benched`: the provider refuses it, or its quota is used. */
          state: z.enum(['usable', 'cooling', 'benched', 'out']),
          why: z.enum(['credential', 'quota', 'rate']).nullable(),
          until: time.nullable(),
          open_calls: z.int(),
          cooling: z.array(
            z.object({
              upstream_model: z.string(),
              until: time,
              /** The end was not named by the provider. */
              is_guess: z.boolean(),
            }),
          ),
          /** The remaining share of its tightest limit for a model, from 0 to 1; an estimate if no limit is known. */
          headroom: z.array(z.object({ upstream_model: z.string(), share: z.number() })),
        }),
      ),
      /** Models without a closed target, which calls reach all the same. */
      limping: z.array(z.object({ model: z.string(), since: time })),
    }),
  },
  'POST /accounts/{account}/routes/{model}/close': {
    summary: 'Closes the breakers of a target by hand, and ends the pauses of its credentials.',
    access: 'operator.write',
    body: z.strictObject({ target: targetName }),
    reply: nothing,
  },
  'POST /accounts/{account}/routes/explain': {
    summary:
      'Explains where a request would go now, what would follow a failure, and why not elsewhere; sends nothing.',
    access: 'operator.read',
    bodyBytesMax: 1024 * 1024,
    body: z.strictObject({
      model: modelName,
      /** Default: the first that the model is served over. */
      protocol: z.enum(CLIENT_PROTOCOL_NAMES).optional(),
      /** The id of the key that would send it. Default: one without restrictions. */
      key: id.optional(),
      /** The JSON body of the request. Default: a short one of text only. */
      request: z.looseObject({}).optional(),
      /** The session that the client would name, which finds its pin. */
      session: z.string().min(1).max(1_000).optional(),
    }),
    reply: z.object({
      model: z.string(),
      protocol: z.enum(CLIENT_PROTOCOL_NAMES),
      /** Null: the request is refused before a target is chosen. */
      strategy: z.enum(['order', 'weight', 'latency', 'price']).nullable(),
      /** The target that the conversation is pinned to. */
      pin: z.string().nullable(),
      /** The features that a target must support. */
      needs: z.array(z.string()),
      required_tags: z.array(z.string()),
      input_tokens: z.int().nullable(),
      /** The message that the client would get; null: it would not be refused. */
      refusal: z.string().nullable(),
      /** In the order in which they would be tried; the others follow. */
      targets: z.array(
        z.object({
          target: z.string(),
          provider: z.string(),
          upstream_model: z.string(),
          priority: z.int(),
          /** `skipped`: not now, by its state. `filtered`: it cannot carry the request. */
          verdict: z.enum(['chosen', 'fallback', 'skipped', 'filtered']),
          /** The strategy that chose it, `pin`, `probe` or `limp`; or what keeps it away: `breaker`, `images`, `out`, … */
          why: z.string(),
          /** When the reason ends, or when it may begin. */
          until: time.nullable(),
          /** What keeps it from carrying the request: `takes images`. */
          lacks: z.string().nullable(),
          /** The name of the credential that it would use. */
          credential: z.string().nullable(),
          /** The expected cost; null: it has no price. */
          estimate_nano_usd: nanoUsd.nullable(),
          /** Whether the conversation is expected in its prompt cache, and what a cold one adds to the estimate. */
          cache: z.enum(['warm', 'cold']),
          cold_cache_nano_usd: nanoUsd,
          /** The issuer of reasoning that is removed for it. */
          strips: z.string().nullable(),
          state: z.enum(['closed', 'open', 'half_open', 'benched', 'out']),
          faults: z.int(),
          outcomes: z.int(),
          last_failure: z.string().nullable(),
        }),
      ),
    }),
  },
} as const satisfies RouteTable;
