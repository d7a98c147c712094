/** Defines the routes that compute something over past requests: their cost on another model. */
import { z } from 'zod';
import { filters } from './logs.ts';
import { cursor, id, nanoUsd, type RouteTable, time } from './row.ts';

const sums = { requests: z.int(), now_nano_usd: nanoUsd, then_nano_usd: nanoUsd };

export const callRoutes = {
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
