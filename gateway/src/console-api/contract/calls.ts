/**
 * Defines the routes that compute something over past requests: their sessions, the breaks of their prompt caches, and
 * their cost on another model.
 */
import { z } from 'zod';
import { PROMPT_BLOCKS } from '../sessions/compare-prompts.ts';
import { BREAK_CAUSES } from '../sessions/find-breaks.ts';
import { filters } from './logs.ts';
import { cursor, filterLabels, id, nanoUsd, type RouteTable, time } from './row.ts';

const sums = { requests: z.int(), now_nano_usd: nanoUsd, then_nano_usd: nanoUsd };

/** Of the requests of one session. */
const session = z.object({
  /** As its client names it. */
  session: z.string(),
  first_at: time,
  /** To the end of the last of them. */
  duration_ms: z.int(),
  requests: z.int(),
  /** Failed ones, without those that the client left. */
  errors: z.int(),
  /** Requested models and names of keys: at most 20, sorted. */
  models: z.array(z.string()),
  keys: z.array(z.string()),
  /** Without `unpriced` requests. */
  cost_nano_usd: nanoUsd,
  unpriced: z.int(),
  /** Tokens, with those of caches; those read from a cache. */
  input: z.int(),
  cache_read: z.int(),
  output: z.int(),
});

const cacheBreak = z.object({
  /**
   * `model`, `provider`, `credential`: the request went elsewhere. `expired`: the cache had dropped the prompt. `short`: the
   * prompt is too short for a cache. `prompt`: none of these; `cache-break` compares the prompts.
   */
  cause: z.enum(BREAK_CAUSES),
  /** The request whose prompt should have been read from the cache. */
  previous: id,
  /** Since its first byte; how long a cache keeps a prompt. */
  gap_ms: z.int(),
  kept_ms: z.int(),
  /** Tokens that should have been read from the cache, and those of them that were not. */
  expected: z.int(),
  lost: z.int(),
  /** What the lost tokens cost more than read from the cache. Null: the request has no price, or those of several models. */
  cost_nano_usd: nanoUsd.nullable(),
});

export const callRoutes = {
  'GET /accounts/{account}/sessions': {
    summary:
      'Lists sessions, the one with the newest request first, with the sums of their requests in the range. Default range: the last 24 hours.',
    access: 'logs.read',
    query: z.object({
      ...filters,
      before: cursor.optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    reply: z.object({ sessions: z.array(session), next: cursor.nullable(), filter_labels: filterLabels }),
  },
  'GET /accounts/{account}/session-turns': {
    summary:
      'Lists the newest requests of a session in their order, with the sums of all, and where its prompt cache broke.',
    access: 'logs.read',
    query: z.object({
      session: z.string().min(1).max(256),
      before: cursor.optional(),
      limit: z.coerce.number().int().min(1).max(500).default(200),
    }),
    reply: z.object({
      /** Of the whole session. */
      session,
      turns: z.array(
        z.object({
          request_id: id,
          at: time,
          duration_ms: z.number(),
          key_name: z.string(),
          model: z.string().nullable(),
          served_model: z.string().nullable(),
          provider: z.string().nullable(),
          status: z.int(),
          error: z.string().nullable(),
          /** With those of caches. */
          input: z.int(),
          cache_read: z.int(),
          cache_write: z.int(),
          output: z.int(),
          cost_nano_usd: nanoUsd.nullable(),
          /** Null: it read what the request before left in the cache. */
          cache_break: cacheBreak.nullable(),
        }),
      ),
      /** As `before`: lists the older requests. */
      next: cursor.nullable(),
    }),
  },
  'GET /accounts/{account}/cache-break': {
    summary: 'Compares the stored prompts of two requests, and returns the first part that differs.',
    access: 'logs.read',
    query: z.object({ request: id, previous: id }),
    reply: z.object({
      /**
       * `same`: `request` begins as `previous` does. `not_stored`, `hidden`, `unreadable`: a prompt is not stored, not for
       * the reader, or damaged. `incomparable`: one is cut off, of another format, or without its history.
       */
      outcome: z.enum(['differs', 'same', 'not_stored', 'hidden', 'unreadable', 'incomparable']),
      /** `settings`: the choice of tools and thinking, which messages are cached with. Null unless it differs. */
      block: z.enum(PROMPT_BLOCKS).nullable(),
      /** From 0, within the block. */
      index: z.int().nullable(),
    }),
  },
  'GET /accounts/{account}/what-if': {
    summary:
      'Computes what requests would cost on another model, from their recorded usage, at its current price. Default range: the last 24 hours.',
    access: 'logs.read',
    query: z.object({ ...filters, other_model: z.string().min(1).max(256), before: cursor.optional() }),
    reply: z.object({
      model: z.string(),
      /** Of its first target, whose price is used. */
      provider: z.string(),
      /** With the account's mark-up. */
      price_version: z.string(),
      /** The requests in the sums: those with a price now and of a format of generated answers. */
      ...sums,
      /**
       * `then_nano_usd` with the token counts that the tokenizer of the other model is estimated to give; equal to it
       * where both models count alike. They differ more for text in scripts other than Latin.
       */
      then_low_nano_usd: nanoUsd,
      then_high_nano_usd: nanoUsd,
      /** `then_nano_usd` if no token were read from a cache or written to one. */
      then_uncached_nano_usd: nanoUsd,
      /** The part of `then_nano_usd` for recorded reasoning; the other model may reason more, less or not at all. */
      then_reasoning_nano_usd: nanoUsd,
      reasoning_tokens: z.int(),
      /** Requests in a tier of their own, computed at the list price of the other model. */
      tiered: z.int(),
      /** Requests in no sum: without a price now; of formats other than generated answers. */
      unpriced: z.int(),
      other_formats: z.int(),
      /** By requested model; the most expensive first. */
      by_model: z.array(z.object({ model: z.string().nullable(), ...sums })),
      by_key: z.array(z.object({ key: id, name: z.string(), ...sums })),
      /** The time was over: only requests since then are in it. Null: all are. */
      counted_from: time.nullable(),
      /** As `before`: computes the older requests, whose sums add up with these. */
      next: cursor.nullable(),
    }),
  },
} as const satisfies RouteTable;
