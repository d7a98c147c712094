/** Defines the routes about limits, workspaces, members, billing, audit and settings. */
import { z } from 'zod';
import { QUERY_CHARS_MAX } from '../query/parse-query.ts';
import {
  caps,
  cursor,
  dataTags,
  email,
  gauge,
  givenName,
  id,
  layeredCaps,
  limitLayer,
  nanoUsd,
  nothing,
  type RouteTable,
  role,
  time,
  usd,
} from './row.ts';

const subjectKind = z.enum(['key', 'end_user', 'workspace', 'account', 'model']);
const newId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'expected 1 to 64 of a-z, 0-9, - and _, starting with a letter or a digit');
const bodies = z.enum(['off', 'errors', 'all']);

const node = z.object({
  subject: z.object({ kind: subjectKind, id: z.string() }),
  name: z.string(),
  /** The id of the parent subject; null: the account itself, models and end users. */
  parent: id.nullable(),
  ...layeredCaps,
  /** False: a rule of a model that is not served; it has no effect. */
  binds: z.boolean(),
  gauges: z.array(gauge),
});

const auditQuery = z.string().max(QUERY_CHARS_MAX).optional();

const cacheMode = z.enum(['off', 'request', 'all']);

const workspace = z.object({
  id,
  models: z.array(z.string()).nullable(),
  /** Which calls have their content stored, and for how many days; null: the configured default. */
  bodies: bodies.nullable(),
  bodies_days: z.int().nullable(),
  /** Data tags, such as `eu`, that every target of its requests must carry. */
  required_tags: z.array(z.string()),
  /** Which requests may be answered from the cache: none, those whose header asks for it, or all. */
  cache: cacheMode,
  /** How long a cached answer is used; null: the cache is off. */
  cache_seconds: z.int().nullable(),
  /** Answers from before are not used: when the cache was turned on or cleared. Null: it is off. */
  cache_since: time.nullable(),
  ...layeredCaps,
  keys: z.int(),
  created_at: time,
  month_nano_usd: nanoUsd,
});
const workspaceGiven = {
  models: z.array(z.string().min(1).max(256)).min(1).max(200).nullable(),
  bodies: bodies.nullable(),
  bodies_days: z.int().min(1).max(3_650).nullable(),
  required_tags: dataTags.optional(),
  cache: cacheMode.optional(),
  cache_seconds: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .optional(),
  caps,
};

/**
 * The workspaces that the caller has too; null: the whole account. `elsewhere`: the item has other workspaces as well,
 * so the caller can't change it.
 */
const ofWorkspaces = { workspaces: z.array(id).nullable(), elsewhere: z.boolean() };
const member = z.object({
  person: id,
  name: z.string(),
  email: z.string(),
  /** Whether the member has proved that the address is theirs. */
  email_verified: z.boolean(),
  role,
  ...ofWorkspaces,
  second_factor: z.boolean(),
  joined_at: time,
  seen_at: time.nullable(),
});
const invitation = z.object({ id, email: z.string(), role, ...ofWorkspaces, invited_by: z.string(), expires_at: time });
const memberGiven = { role, workspaces: z.array(id).min(1).nullable() };

const account = z.object({
  id,
  /** The display name; the id where no name was given. */
  name: z.string(),
  mode: z.enum(['postpaid', 'prepaid']),
  balance_nano_usd: nanoUsd,
  held_nano_usd: nanoUsd,
  charged_nano_usd: nanoUsd,
  written_off_nano_usd: nanoUsd,
  topped_up_nano_usd: nanoUsd,
  mark_up_percent: z.string(),
  time_zone: z.string(),
  created_at: time,
});
/** The same for operators. */
const houseAccount = account.extend({
  /** The cost of attempts that did not answer their request. The operator pays it; it is in no request's cost. */
  absorbed_attempts_nano_usd: nanoUsd,
});
const entry = z.object({
  at: time,
  kind: z.enum(['topup', 'hold', 'extend', 'post', 'void', 'correct', 'absorb']),
  ref: z.string(),
  amount_nano_usd: nanoUsd,
  released_nano_usd: nanoUsd,
  note: z.string().nullable(),
});
const note = z.string().max(500).nullable();

/** False: the link is not sent to its recipient by email, although a mail server is configured. */
const send = z.boolean().optional();
/** Null: it was not sent by email. `problem`: why the mail server did not take it. */
const sent = z.object({ ok: z.boolean(), problem: z.string().nullable() }).nullable();

export const policyRoutes = {
  'GET /accounts/{account}/limits': {
    summary: 'Returns all limits of the account as a tree, with what remains of each.',
    access: 'limits.read',
    reply: z.object({ nodes: z.array(node) }),
  },
  'PUT /accounts/{account}/limits/{kind}/{subject}': {
    summary:
      'Sets limits of one subject, by default in the caller’s layer; the lower limit of both layers applies. Omitted members stay.',
    access: 'limits.write',
    body: z.strictObject({ caps: caps.partial(), layer: limitLayer.optional() }),
    reply: node,
  },
  'POST /accounts/{account}/limits/simulate': {
    summary: 'Previews the limits that a request would meet; reserves nothing.',
    access: 'limits.read',
    body: z.strictObject({
      key: id,
      model: z.string().min(1).max(256),
      end_user: z.string().max(64).nullable(),
      input_tokens: z.int().min(0).max(100_000_000),
      max_tokens: z.int().min(1).max(100_000_000).nullable(),
      stream: z.boolean(),
    }),
    reply: z.object({
      admitted: z.boolean(),
      hold_nano_usd: nanoUsd,
      steps: z.array(z.object({ passes: z.boolean(), text: z.string() })),
    }),
  },
  'GET /accounts/{account}/workspaces': {
    summary: 'Lists the workspaces with their policy.',
    access: 'workspaces.read',
    reply: z.object({
      workspaces: z.array(workspace),
      /** The defaults for workspaces without a setting of their own. */
      configured: z.object({ bodies, bodies_days: z.int() }),
    }),
  },
  'POST /accounts/{account}/workspaces': {
    summary: 'Creates a workspace.',
    access: 'workspaces.write',
    body: z.strictObject({ id: newId, ...workspaceGiven }),
    reply: workspace,
    wholeAccount: true,
  },
  'PATCH /accounts/{account}/workspaces/{workspace}': {
    summary:
      'Changes a workspace; omitted members stay. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'workspaces.write',
    body: z
      .strictObject({
        ...workspaceGiven,
        clear_cache: z.literal(true),
        caps: caps.partial(),
        before: z
          .strictObject({ models: workspaceGiven.models, required_tags: workspaceGiven.required_tags })
          .partial(),
      })
      .partial(),
    reply: workspace,
  },
  'GET /accounts/{account}/members': {
    summary:
      'Lists the members and open invitations of the account; members restricted to workspaces see those of their workspaces.',
    access: 'members.read',
    reply: z.object({
      members: z.array(member),
      invitations: z.array(invitation),
      /** Whether a mail server is configured. */
      sends_email: z.boolean(),
    }),
  },
  'POST /accounts/{account}/invitations': {
    summary: 'Invites a member. Only this response contains the link.',
    access: 'members.write',
    body: z.strictObject({ email, ...memberGiven, send }),
    reply: z.object({ invitation, link: z.string(), sent }),
    peopleOnly: true,
  },
  'DELETE /accounts/{account}/invitations/{invitation}': {
    summary: 'Revokes an invitation.',
    access: 'members.write',
    reply: nothing,
    peopleOnly: true,
  },
  'PATCH /accounts/{account}/members/{person}': {
    summary: 'Changes the role and workspaces of a member; omitted members stay.',
    access: 'members.write',
    body: z.strictObject(memberGiven).partial(),
    reply: member,
    peopleOnly: true,
  },
  'DELETE /accounts/{account}/members/{person}': {
    summary: 'Removes a member; their keys stop working.',
    access: 'members.write',
    reply: nothing,
    peopleOnly: true,
  },
  'POST /accounts/{account}/members/{person}/reset-link': {
    summary: 'Creates a one-time password reset link for a member. Only this response contains the link.',
    access: 'members.write',
    body: z.strictObject({ send }),
    reply: z.object({ link: z.string(), expires_at: time, sent }),
    peopleOnly: true,
  },
  'GET /accounts/{account}/billing': {
    summary: 'Returns the balance of the account and its ledger, newest entry first.',
    access: 'billing.read',
    query: z.object({ kind: z.enum(['money', 'all']).default('money'), before: cursor.optional() }),
    reply: z.object({ account, entries: z.array(entry), next: cursor.nullable() }),
  },
  'GET /accounts/{account}/billing.csv': {
    summary: 'Exports the statement as a file.',
    access: 'billing.read',
    query: z.object({ from: time, to: time }),
    reply: 'csv',
  },
  'GET /accounts': {
    summary: 'Lists all accounts of the installation.',
    access: 'operator.read',
    reply: z.object({ accounts: z.array(houseAccount) }),
  },
  'POST /accounts': {
    summary: 'Creates an account.',
    access: 'operator.write',
    body: z.strictObject({
      id: newId,
      /** Absent: the id is used as the name. */
      name: givenName.optional(),
      mode: z.enum(['postpaid', 'prepaid']),
    }),
    reply: account,
  },
  'PATCH /accounts/{account}': {
    summary: 'Changes the billing settings of an account.',
    access: 'operator.write',
    body: z
      .strictObject({
        mode: z.enum(['postpaid', 'prepaid']),
        mark_up_percent: z.string().max(16),
        time_zone: z.string().max(64),
      })
      .partial(),
    reply: account,
  },
  'POST /accounts/{account}/topup': {
    summary: 'Adds money to an account. Repeating an id adds it once.',
    access: 'operator.write',
    body: z.strictObject({ id: z.uuid(), usd, note }),
    reply: account,
  },
  'POST /accounts/{account}/correct': {
    summary: 'Credits (or, negative, debits) an account to correct a charge. Repeating an id moves the money once.',
    access: 'operator.write',
    body: z.strictObject({
      id: z.uuid(),
      usd: z.string().regex(/^-?\d{1,9}(\.\d{1,9})?$/),
      note: z.string().min(1).max(500),
    }),
    reply: account,
  },
  'GET /accounts/{account}/audit': {
    summary: 'Lists the audit trail, newest first.',
    access: 'audit.read',
    query: z.object({
      before: cursor.optional(),
      /** `action:keys.* actor:ada target:key_1 workspace:red date:2026-11-01..2026-11-21`; days of the account's zone. */
      q: auditQuery,
      actor: id.optional(),
      act: z.string().max(64).optional(),
      subject: z.string().max(256).optional(),
    }),
    reply: z.object({
      entries: z.array(
        z.object({
          seq: z.int(),
          at: time,
          actor: z.object({
            kind: z.enum(['person', 'key', 'command_line', 'anonymous']),
            id: z.string(),
            name: z.string(),
          }),
          act: z.string(),
          subject: z.object({ kind: z.string(), id: z.string() }),
          before: z.record(z.string(), z.unknown()).nullable(),
          after: z.record(z.string(), z.unknown()).nullable(),
          address: z.string().nullable(),
        }),
      ),
      next: cursor.nullable(),
    }),
  },
  'GET /accounts/{account}/audit.csv': {
    summary: 'Exports the audit trail as a file.',
    access: 'audit.read',
    query: z.object({ from: time, to: time, q: auditQuery }),
    reply: 'csv',
  },
  'GET /accounts/{account}/settings': {
    summary: 'Returns the settings of the account and, for operators, of the installation.',
    access: 'settings.read',
    reply: z.object({
      account,
      /** Facts about the installation: the configuration file, data folder, version. */
      facts: z.array(z.object({ name: z.string(), text: z.string() })),
    }),
  },
  'PATCH /accounts/{account}/settings': {
    summary: 'Changes the name and time zone of the account.',
    access: 'settings.write',
    body: z.strictObject({ name: givenName, time_zone: z.string().max(64) }).partial(),
    reply: nothing,
  },
} as const satisfies RouteTable;
