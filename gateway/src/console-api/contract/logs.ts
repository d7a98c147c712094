/** Defines the routes about single calls: the list with its live tail and CSV export, and the detail of one call. */

import { z } from 'zod';
import { UNITS } from '../../billing/unit-prices.ts';
import { chooseNearName } from '../../errors/near-name.ts';
import { REASON_CAPS, REASON_KINDS, REASON_STEPS, REASON_SUBJECTS, TARGET_STATES } from '../../errors/reason.ts';
import { COLUMN_NAMES, isCallColumn } from '../../lib/query/call-columns.ts';
import { SORTS } from '../../lib/query/call-order.ts';
import { RECORDED_PROTOCOLS } from '../../protocols/names.ts';
import { ATTEMPT_PHASES, BILLED } from '../../store/ports/records.ts';
import { QUERY_CHARS_MAX } from '../query/parse-query.ts';
import { callFilters, cursor, explanation, filterLabels, id, nanoUsd, type RouteTable, time } from './row.ts';

const usage = z.object({
  input: z.int(),
  cache_read: z.int(),
  cache_write_5m: z.int(),
  cache_write_1h: z.int(),
  output: z.int(),
  reasoning: z.int(),
  /**
   * Present on few calls. Audio and image tokens, and cache writes for 30 minutes, are included in the counters above; tool
   * requests are counted by kind.
   */
  audio_input: z.int().optional(),
  audio_cache_read: z.int().optional(),
  audio_output: z.int().optional(),
  image_input: z.int().optional(),
  image_output: z.int().optional(),
  cache_write_30m: z.int().optional(),
  server_tools: z.record(z.string(), z.int()).optional(),
  /** Units that are priced one by one; `image_kind`: the size and quality of the images. */
  images: z.int().optional(),
  seconds: z.int().optional(),
  characters: z.int().optional(),
  search_units: z.int().optional(),
  image_kind: z.string().optional(),
  /** The tier stated in the response, where its price differs from the list price: `{ "speed": "fast" }`. */
  tier: z.record(z.string(), z.string()).optional(),
  /** Usage of each model run, where the runs had different prices; they add up to the counters above. */
  parts: z
    .array(
      z.object({
        /** Absent: the requested model. */
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
  /** From the arrival of the call to the start of the attempt. Records from before these marks have none of them. */
  start_ms: z.number().optional(),
  /**
   * Since the start of the attempt: until the request was sent, the response head arrived, the first stream token
   * arrived.
   */
  connect_ms: z.number().nullable().optional(),
  ttfb_ms: z.number().nullable().optional(),
  ttft_ms: z.number().nullable().optional(),
  duration_ms: z.number(),
  /** The attempt's number, where it is not its place in the list. */
  n: z.int().optional(),
  /** The target's name, where it is not `provider/model`. */
  target: z.string().optional(),
  /** The target's format, where it is not the client's. */
  format: z.string().optional(),
  /** Why the target was chosen. Absent: it is the first in order. */
  why: z.string().optional(),
  /** The class of the failure. */
  class: z.string().optional(),
  /** What its provider said. Absent: nothing, no failure, or only operators may read it. */
  message: z.string().optional(),
  phase: z.enum(ATTEMPT_PHASES).optional(),
  /** Time spent waiting before the attempt. Absent: 0. */
  wait_ms: z.number().optional(),
  /** HTTP exchanges. Absent: 1. */
  exchanges: z.int().optional(),
  upstream_request_id: z.string().optional(),
  /** The service of the provider that got the last exchange, and the region of its address, where it has several. */
  door: z.string().optional(),
  region: z.string().optional(),
  /** From here on for operators only. The credential's name; absent: `default`. */
  credential: z.string().optional(),
  /** The cost of an attempt that did not answer the request, which the operator pays. Absent: it cost nothing. */
  billed: z.enum(BILLED).optional(),
  usage: usage.optional(),
  price_version: z.string().optional(),
  cost_nano_usd: nanoUsd.nullable().optional(),
});
const amount = z.union([z.int(), nanoUsd]);

/**
 * Why a call was refused, failed or was cut off. Members are present only where they apply and the reader may see them.
 */
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
  /** Counts; nano-USD for budgets and balances. For a balance, `limit` is the remaining amount. */
  used: amount.optional(),
  limit: amount.optional(),
  needed: amount.optional(),
  resets_at: time.optional(),
  allowed: z.array(z.string()).readonly().optional(),
  param: z.string().optional(),
  message: z.string().optional(),
  target: z.object({ provider: z.string(), model: z.string() }).optional(),
  /** The targets that were not tried because of their state. */
  targets: z
    .array(
      z.object({
        provider: z.string(),
        model: z.string(),
        state: z.enum(TARGET_STATES),
        until: time.optional(),
      }),
    )
    .readonly()
    .optional(),
  upstream: z
    .object({ status: z.int().nullable(), type: z.string().nullable(), message: z.string().nullable() })
    .optional(),
  at_step: z.enum(REASON_STEPS),
});

/** The format of `tollgate calls --json`. */
export const callView = z.object({
  request_id: id,
  at: time,
  account: id,
  workspace: id,
  key_id: id,
  key_name: z.string(),
  end_user: z.string().nullable(),
  session: z.string().nullable(),
  /** The W3C trace that the request is part of. Absent: none. */
  trace_id: z.string().optional(),
  protocol: z.enum(RECORDED_PROTOCOLS),
  model: z.string().nullable(),
  served_model: z.string().nullable(),
  provider: z.string().nullable(),
  stream: z.boolean(),
  status: z.int(),
  error: z.string().nullable(),
  /** Absent: the call was answered completely, or its record is from before reasons were stored. */
  reason: reason.optional(),
  finish_reason: z.string().nullable(),
  usage,
  usage_source: z.string(),
  /** Anomalies in the usage that the provider reported; it counts all the same. Absent: none. */
  usage_flags: z
    .array(
      z.enum(['sum', 'cached', 'reasoning', 'inner_steps', 'far_input', 'far_output', 'other_model', 'held_amount']),
    )
    .optional(),
  /** The request whose answer was given from the cache. Absent: the request was not answered from it. */
  cached_from: id.optional(),
  /** How often each guardrail masked something, by its rule's id. Absent: nothing was masked. */
  masked: z.record(z.string(), z.int()).optional(),
  price_version: z.string().nullable(),
  cost_nano_usd: nanoUsd.nullable(),
  /** Kinds of tools whose requests are not in the cost, because the price had no fee for them. Absent: none. */
  unpriced_server_tools: z.array(z.string()).optional(),
  ttfb_ms: z.number().nullable(),
  duration_ms: z.number(),
  attempts: z.array(attempt),
});

export const filters = {
  from: time.optional(),
  to: time.optional(),
  /**
   * A query: `key:prod duration>10s status:5xx -model:claude*`; or a request id or its beginning. Words without a field
   * are searched in stored prompts and responses: `"rate limit"`.
   */
  q: z.string().max(QUERY_CHARS_MAX).optional(),
  /** The id of a W3C trace. */
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, '32 lower-case hexadecimal digits')
    .optional(),
  ...callFilters,
  outcome: z.enum(['ok', 'client_error', 'server_error', 'cancelled']).optional(),
  /** A kind of reason, or a `group` of `GET /accounts/{account}/reasons`. */
  reason: z
    .union(
      [
        z.enum(REASON_KINDS),
        z
          .string()
          .max(1_024)
          .regex(/^\[".*\]$/),
      ],
      {
        error: `expected one of ${REASON_KINDS.join(', ')}; or a group of the list of reasons`,
      },
    )
    .optional(),
};

/** `cost` or `-cost`, the highest first. Default: newest first. */
const order = z.enum(SORTS.flatMap((field) => [field, `-${field}` as const])).optional();

/** Names of columns of the list of requests, as text. */
export const callColumns = z
  .string()
  .max(1_024)
  .superRefine((text, context) => {
    const unknown = text.split(',').find((name) => !isCallColumn(name));
    if (unknown === undefined) return;
    const near = chooseNearName(unknown, COLUMN_NAMES);
    context.addIssue({
      code: 'custom',
      message: `found the column ${JSON.stringify(unknown.slice(0, 60))}, expected ${near === null ? `one of ${COLUMN_NAMES.join(', ')}` : `${near}?`}`,
    });
  });

/** A part of a conversation. JSON is displayed as text. */
const part = z.object({
  kind: z.enum(['text', 'reasoning', 'tool_call', 'tool_result', 'media', 'other']),
  name: z.string().nullable(),
  text: z.string(),
});
export const conversationTurn = z.object({ role: z.string(), parts: z.array(part) });

export const logRoutes = {
  'GET /accounts/{account}/logs': {
    summary: 'Lists requests, newest first, with their number over the time range.',
    access: 'logs.read',
    query: z.object({
      ...filters,
      before: cursor.optional(),
      sort: order,
      /**
       * For the live tail: the last `newest`. Returns the calls that ended since, and may repeat some of the previous
       * reply.
       */
      after: cursor.optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    reply: z.object({
      /** May be shorter than the limit even with a `next`: a search for rare calls pauses. */
      calls: z.array(callView),
      next: cursor.nullable(),
      newest: cursor.nullable(),
      /** Requests whose stored bodies were searched for the words of `q`. Null: it has none. */
      searched: z.int().nullable(),
      filter_labels: filterLabels,
      /** Null with `before` or `after`, which continue a page that already has it. */
      histogram: z
        .object({ step_ms: z.int(), bars: z.array(z.object({ at: time, requests: z.int(), errors: z.int() })) })
        .nullable(),
    }),
  },
  'GET /accounts/{account}/logs.csv': {
    summary: 'Exports the requests as a file, newest first or in another order.',
    access: 'logs.read',
    query: z.object({
      ...filters,
      sort: order,
      /** Names of columns, separated by commas, such as `at,status,model`. Default: all members of a record. */
      columns: callColumns.optional(),
    }),
    reply: 'csv',
  },
  'GET /accounts/{account}/reasons': {
    summary: 'Lists why requests failed: groups with the same reason, the largest first, with their newest request.',
    access: 'logs.read',
    /** Default range: the last 24 hours. */
    query: z.object(filters).omit({ trace_id: true }),
    reply: z.object({
      /** At most 100. */
      groups: z.array(
        z.object({
          /** As a value of the filter `reason`. */
          group: z.string(),
          kind: z.enum(REASON_KINDS),
          error: z.string().nullable(),
          subject: reason.shape.subject,
          rule: reason.shape.rule,
          /** The provider that failed. */
          provider: z.string().optional(),
          requests: z.int(),
          first_at: time,
          last_at: time,
          newest_request_id: id,
          /** Of the newest request. */
          explanation: explanation.unwrap(),
        }),
      ),
      requests: z.int(),
      /** Number of groups beyond those listed. */
      other_groups: z.int(),
      /** Counting took too long: only requests since then are in it. Null: all are. */
      counted_from: time.nullable(),
      filter_labels: filterLabels,
    }),
  },
  'GET /accounts/{account}/logs/{request}': {
    summary: 'Returns a request: its record, its cost by line, and its prompt and response if stored.',
    access: 'logs.read',
    reply: z.object({
      call: callView,
      /**
       * The reason as a sentence, and the page that fixes it where the reader may use it. Of a request that was answered
       * after failed attempts, what they failed with. Null: there is nothing to explain.
       */
      explanation,
      cost: z
        .object({
          lines: z.array(
            z.object({
              /** A token counter, a kind of tool, or `mark_up`. */
              kind: z.string(),
              /** Null: the mark-up, which is a percentage of the lines above it. */
              unit: z.enum(['token', 'request', ...UNITS]).nullable(),
              count: z.int(),
              pico_usd_each: z.string(),
              cost_pico_usd: z.string(),
            }),
          ),
          held_nano_usd: nanoUsd,
          settled_nano_usd: nanoUsd,
          written_off_nano_usd: nanoUsd,
        })
        .nullable(),
      entries: z.array(
        z.object({
          /** The block of the journal; of an entry from before the journal, the entry. So is the hash. */
          seq: z.int(),
          kind: z.string(),
          amount_nano_usd: nanoUsd,
          released_nano_usd: nanoUsd,
          at: time,
          hash: z.string(),
        }),
      ),
      /**
       * `hidden`: stored, but the reader may not see it. `none`: the workspace's policy stores none. `unreadable`: the
       * copy on disk can't be read.
       */
      content: z.enum(['shown', 'hidden', 'none', 'unreadable']),
      conversation: z.array(conversationTurn).nullable(),
      /**
       * Bodies as text. `response` is the body sent to the client (for a stream, its events); `upstream_response` is
       * the provider's body, where it differs.
       */
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
