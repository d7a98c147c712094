/** Owns the routes about single calls: the list, its live tail and file, and one call whole. */
import { z } from 'zod';
import { REASON_CAPS, REASON_KINDS, REASON_STEPS, REASON_SUBJECTS } from '../../errors/reason.ts';
import { cursor, filterLabels, id, nanoUsd, type RouteTable, time, without } from './row.ts';

const usage = z.object({
  input: z.int(),
  cache_read: z.int(),
  cache_write_5m: z.int(),
  cache_write_1h: z.int(),
  output: z.int(),
  reasoning: z.int(),
  /** What few calls have: sound and images are parts of the counters above, requests of tools are by kind. */
  audio_input: z.int().optional(),
  audio_cache_read: z.int().optional(),
  audio_output: z.int().optional(),
  image_input: z.int().optional(),
  image_output: z.int().optional(),
  server_tools: z.record(z.string(), z.int()).optional(),
  /** The tier that the answer stated, where its price is not that of the list: `{ "speed": "fast" }`. */
  tier: z.record(z.string(), z.string()).optional(),
  /** What each run of a model used, where they were charged at several prices; together they are the counters above. */
  parts: z
    .array(
      z.object({
        /** Absent: the model that was asked for. */
        model: z.string().optional(),
        input: z.int(),
        cache_read: z.int(),
        cache_write_5m: z.int(),
        cache_write_1h: z.int(),
        output: z.int(),
        reasoning: z.int(),
        price_version: z.string().optional(),
      }),
    )
    .readonly()
    .optional(),
});
const attempt = z.object({
  provider: z.string(),
  model: z.string(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  /** From the arrival of the call until the attempt began. Absent with the other marks: the record is older than they are. */
  start_ms: z.number().optional(),
  /** Since the attempt began: until the request was sent, the head of the answer came, the first token of a stream came. */
  connect_ms: z.number().nullable().optional(),
  ttfb_ms: z.number().nullable().optional(),
  ttft_ms: z.number().nullable().optional(),
  duration_ms: z.number(),
});
const amount = z.union([z.int(), nanoUsd]);

/** Why a call was refused, failed or was cut. Members only where they apply, and where the reader has the right to them. */
const reason = z.object({
  kind: z.enum(REASON_KINDS),
  subject: z.object({ type: z.enum(REASON_SUBJECTS), id: z.string(), name: z.string() }).optional(),
  rule: z
    .object({
      id: z.string(),
      cap: z.enum(REASON_CAPS),
      window: z.enum(['day', 'week', 'month', 'total']).optional(),
    })
    .optional(),
  /** Counts; of budgets and balances nano-USD. Of a balance `limit` is what was left. */
  used: amount.optional(),
  limit: amount.optional(),
  needed: amount.optional(),
  resets_at: time.optional(),
  allowed: z.array(z.string()).readonly().optional(),
  param: z.string().optional(),
  message: z.string().optional(),
  target: z.object({ provider: z.string(), model: z.string() }).optional(),
  upstream: z
    .object({ status: z.int().nullable(), type: z.string().nullable(), message: z.string().nullable() })
    .optional(),
  at_step: z.enum(REASON_STEPS),
});

/** As published for `tollgate calls --json`. */
const callView = z.object({
  request_id: id,
  at: time,
  account: id,
  workspace: id,
  key_id: id,
  key_name: z.string(),
  end_user: z.string().nullable(),
  session: z.string().nullable(),
  protocol: z.enum(['chat', 'messages']),
  model: z.string().nullable(),
  served_model: z.string().nullable(),
  provider: z.string().nullable(),
  stream: z.boolean(),
  status: z.int(),
  error: z.string().nullable(),
  /** Absent: it was answered whole, or its record is from before reasons were kept. */
  reason: reason.optional(),
  finish_reason: z.string().nullable(),
  usage,
  usage_source: z.string(),
  /** What is odd about the provider's numbers, which count all the same. Absent: nothing. */
  usage_flags: z.array(z.enum(['sum', 'cached', 'reasoning', 'far_input', 'far_output'])).optional(),
  price_version: z.string().nullable(),
  cost_nano_usd: nanoUsd.nullable(),
  /** Kinds of tools whose requests are in no cost, for the price had no fee for them. Absent: none. */
  unpriced_server_tools: z.array(z.string()).optional(),
  ttfb_ms: z.number().nullable(),
  duration_ms: z.number(),
  attempts: z.array(attempt),
});

const filters = {
  from: time.optional(),
  to: time.optional(),
  /** A request id, whole or its beginning. */
  q: z.string().max(128).optional(),
  model: z.string().max(256).optional(),
  provider: z.string().max(128).optional(),
  key: id.optional(),
  /** Who made the key. */
  member: id.optional(),
  workspace: id.optional(),
  end_user: z.string().max(64).optional(),
  session: z.string().max(256).optional(),
  protocol: z.enum(['chat', 'messages']).optional(),
  without,
  outcome: z.enum(['ok', 'client_error', 'server_error', 'cancelled']).optional(),
};

/** A piece of a conversation, as text and JSON to be shown as text. */
const part = z.object({
  kind: z.enum(['text', 'reasoning', 'tool_call', 'tool_result', 'media', 'other']),
  name: z.string().nullable(),
  text: z.string(),
});
export const conversationTurn = z.object({ role: z.string(), parts: z.array(part) });

export const logRoutes = {
  'GET /accounts/{account}/logs': {
    summary: 'Calls, the newest first, with how many there were over the range.',
    access: 'logs.read',
    query: z.object({
      ...filters,
      before: cursor.optional(),
      /** For the live tail: what `newest` said. Answers what ended since, and perhaps some calls of the last answer again. */
      after: cursor.optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    reply: z.object({
      /** May be fewer than asked for though there is a `next`: looking for rare ones pauses. */
      calls: z.array(callView),
      next: cursor.nullable(),
      newest: cursor.nullable(),
      filter_labels: filterLabels,
      /** Not with `before` or `after`: they continue a page that has it. */
      histogram: z
        .object({ step_ms: z.int(), bars: z.array(z.object({ at: time, requests: z.int(), errors: z.int() })) })
        .nullable(),
    }),
  },
  'GET /accounts/{account}/logs.csv': {
    summary: 'The calls as a file, the newest first.',
    access: 'logs.read',
    query: z.object(filters),
    reply: 'csv',
  },
  'GET /accounts/{account}/logs/{request}': {
    summary: 'One call: its record, what it cost line by line, and what was said where that is kept.',
    access: 'logs.read',
    reply: z.object({
      call: callView,
      /** The reason in words, and the page that mends it where the reader may. Null: there is no reason. */
      explanation: z
        .object({ sentence: z.string(), remedy: z.object({ label: z.string(), page: z.string() }).nullable() })
        .nullable(),
      cost: z
        .object({
          lines: z.array(
            z.object({
              /** A counter of tokens, a kind of tool, or `mark_up`. */
              kind: z.string(),
              /** Null: of the mark-up, which is a part of the lines above it. */
              unit: z.enum(['token', 'request']).nullable(),
              count: z.int(),
              pico_usd_each: z.string(),
              cost_pico_usd: z.string(),
            }),
          ),
          held_nano_usd: nanoUsd,
          settled_nano_usd: nanoUsd,
          absorbed_nano_usd: nanoUsd,
        })
        .nullable(),
      entries: z.array(
        z.object({
          seq: z.int(),
          kind: z.string(),
          amount_nano_usd: nanoUsd,
          released_nano_usd: nanoUsd,
          at: time,
          hash: z.string(),
        }),
      ),
      /** `hidden`: kept, and the reader may not see it. `none`: the workspace's policy keeps none. `unreadable`: the disk's copy is. */
      content: z.enum(['shown', 'hidden', 'none', 'unreadable']),
      conversation: z.array(conversationTurn).nullable(),
      /** Bodies as text. `response` is what went out (a stream: its events); `upstream_response` what came back, where that was another. */
      raw: z
        .object({
          request: z.string(),
          upstream_request: z.string().nullable(),
          response: z.string(),
          upstream_response: z.string().nullable(),
          truncated: z.boolean(),
        })
        .nullable(),
    }),
  },
} as const satisfies RouteTable;
