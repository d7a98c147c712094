/** Defines the routes about guardrails: the rules that check requests and answers of an account. */
import { z } from 'zod';
import { GUARDRAIL_ACTIONS, GUARDRAIL_CHECKS, GUARDRAIL_SIDES } from '../../store/ports/books/guardrails.ts';
import { givenName, id, nothing, type RouteTable, time } from './row.ts';

/** 500 terms of 200 characters. */
const BODY_BYTES_MAX = 512 * 1024;

const check = z.enum(GUARDRAIL_CHECKS);
const rule = z.object({
  id,
  name: z.string(),
  /** Null: all workspaces of the account. */
  workspace: id.nullable(),
  check,
  /** Names of detectors (empty: all of the check), or terms. */
  items: z.array(z.string()),
  side: z.enum(GUARDRAIL_SIDES),
  /** Null: a hook chooses itself. */
  action: z.enum(GUARDRAIL_ACTIONS).nullable(),
  /** Whether a text passes that the rule could not check. */
  fails_open: z.boolean(),
  /** Of a hook: the origin of its address, never the whole. Else empty. */
  receiver: z.string(),
  /** How long a hook may take; null: no hook. */
  timeout_ms: z.int().nullable(),
  enabled: z.boolean(),
  created_at: time,
});
const given = {
  name: givenName,
  workspace: id.nullable(),
  items: z.array(z.string().max(1_000)).max(1_000),
  side: z.enum(GUARDRAIL_SIDES),
  action: z.enum(GUARDRAIL_ACTIONS),
  fails_open: z.boolean(),
  /** Of a hook. */
  timeout_ms: z.int(),
  /** Of a hook; needs `guardrails.hooks`. */
  url: z.string().max(2_000),
  enabled: z.boolean(),
};
const changed = rule.extend({ signing_secret: z.string().nullable() });

export const guardrailRoutes = {
  'GET /accounts/{account}/guardrails': {
    summary: 'Lists the guardrails of the account, oldest first, and what rules can detect.',
    access: 'guardrails.read',
    reply: z.object({
      rules: z.array(rule),
      detectors: z.array(z.object({ name: z.string(), check, title: z.string(), description: z.string() })),
    }),
  },
  'POST /accounts/{account}/guardrails': {
    summary: 'Creates a guardrail. Only this response contains the secret that signs what a hook gets.',
    access: 'guardrails.write',
    body: z.strictObject({ check, ...z.object(given).partial().shape, name: givenName }),
    bodyBytesMax: BODY_BYTES_MAX,
    reply: changed,
  },
  'PATCH /accounts/{account}/guardrails/{guardrail}': {
    summary:
      'Changes a guardrail; omitted members stay. A new address replaces the signing secret. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'guardrails.write',
    body: z.strictObject({ ...given, before: z.strictObject({ items: given.items }).partial() }).partial(),
    bodyBytesMax: BODY_BYTES_MAX,
    reply: changed,
  },
  'DELETE /accounts/{account}/guardrails/{guardrail}': {
    summary: 'Deletes a guardrail; later requests are not checked by it.',
    access: 'guardrails.write',
    reply: nothing,
  },
  'POST /accounts/{account}/guardrails/{guardrail}/test': {
    summary: 'Runs a guardrail on a text, also a disabled one; a hook is called.',
    access: 'guardrails.write',
    body: z.strictObject({ text: z.string(), side: z.enum(['request', 'answer']).optional() }),
    reply: z.object({
      /** `unchecked`: the rule could not run. */
      outcome: z.enum(['passed', 'masked', 'blocked', 'unchecked']),
      text: z.string(),
      findings: z.array(z.object({ name: z.string(), title: z.string(), count: z.int() })),
      message: z.string().nullable(),
    }),
  },
} as const satisfies RouteTable;
