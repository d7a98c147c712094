/**
 * Defines the views that operators get of routing (routes with their targets, credentials, live states, the explanation
 * of a request) and the shape of a credential as they enter it, for the commands, the command line and the console API.
 */
import { z } from 'zod';
import { AFFINITIES, FALLBACK_CLASSES, ROUTING_STRATEGIES, SHORT_NAME, WEIGHT_MAX } from '../../config/config.ts';
import { CLIENT_PROTOCOL_NAMES } from '../../protocols/names.ts';
import { shownDefinition } from './route-definition.ts';

const source = z.enum(['file', 'environment', 'demo', 'console']);
const strategy = z.enum(ROUTING_STRATEGIES);
/** ISO 8601 in UTC. */
const time = z.iso.datetime();
/** Nano-USD as decimal text. */
const nanoUsd = z.string().regex(/^-?\d{1,19}$/, 'nano-USD as a decimal text');

export const routeView = z.object({
  model: z.string(),
  /** Where it is defined. Only routes of the console can be changed here; the file takes precedence. */
  source,
  /** False: the entry is not used; `problem` says why. */
  served: z.boolean(),
  aliases: z.array(z.string()),
  /** The endpoints that a target serves. */
  protocols: z.array(z.enum(CLIENT_PROTOCOL_NAMES)),
  /** The policy that applies, defaults included; null: the entry is not used. */
  routing: z
    .object({
      strategy,
      affinity: z.enum(AFFINITIES),
      max_extra_attempts: z.int(),
      /** US dollars as decimal text. */
      uncertain_retry: z.string(),
      hedge: z.enum(['off', 'on']),
      fallback_on: z.array(z.enum(FALLBACK_CLASSES)),
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

const MODELS_MAX = 500;
const WEIGHT_EXPECTED = `expected a whole number from 0 to ${WEIGHT_MAX}`;

/** Secrets by name, as `kinds` of the provider list names them. */
export const secrets = z.record(z.string().max(64), z.string().min(1).max(8_192));

/** The members of a credential that can change; an omitted one stays. */
export const credentialSettings = {
  /** Its share of new conversations; 0: only when no other can be used. */
  weight: z
    .int({ error: WEIGHT_EXPECTED })
    .min(0, { error: WEIGHT_EXPECTED })
    .max(WEIGHT_MAX, { error: WEIGHT_EXPECTED })
    .optional(),
  /** Credentials of one organization share limits and caches; null: the provider's only one. */
  organisation: z.string().trim().min(1).max(100).nullable().optional(),
  /** Models at the provider that it may be used for; null: all. */
  models: z
    .array(z.string().min(1).max(256))
    .min(1, { error: 'found an empty list, expected at least one model of the provider, or null for all' })
    .max(MODELS_MAX)
    .nullable()
    .optional(),
};

export const newCredential = {
  name: z.string().regex(SHORT_NAME, {
    error: 'expected a name of 1 to 64 letters, digits, ., _ or -, beginning with a letter or digit',
  }),
  secrets,
  ...credentialSettings,
};

export const credentialView = z.object({
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

export const statesView = z.object({
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
      /** The remaining share of its tightest limit for a model, from 0 to 1; without models whose provider states no limit. */
      headroom: z.array(z.object({ upstream_model: z.string(), share: z.number() })),
    }),
  ),
  /** Models without a closed target, which calls reach all the same. */
  limping: z.array(z.object({ model: z.string(), since: time })),
});

export const explanationView = z.object({
  model: z.string(),
  protocol: z.enum(CLIENT_PROTOCOL_NAMES),
  /** Null: the request is refused before a target is chosen. */
  strategy: strategy.nullable(),
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
});

/** A model that a provider offers. */
export const offeredModelView = z.object({
  /** Its name there. */
  model: z.string(),
  /** Its public names here; empty: it is not served. */
  served_as: z.array(z.string()),
  /** The day from which it is gone, such as `2026-12-31`, there or at its vendor's own host; null: none is known. */
  retires: z.object({ on: z.string(), by: z.enum(['provider', 'vendor']) }).nullable(),
});

/** The models that a provider offers, and a sentence about them. */
export const providerModelsView = z.object({
  provider: z.string(),
  message: z.string(),
  models: z.array(offeredModelView),
  /** The provider's list continues after them, as `message` says. */
  cut: z.boolean(),
});

export type RouteView = z.infer<typeof routeView>;
export type CredentialView = z.infer<typeof credentialView>;
export type StatesView = z.infer<typeof statesView>;
export type ExplanationView = z.infer<typeof explanationView>;
