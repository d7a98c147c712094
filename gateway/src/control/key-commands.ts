/** Defines the commands for keys. Each change is durable before it applies to calls, and then applies at once. */
import { z } from 'zod';
import { generateId, generateKeyText } from '../identity/key-format.ts';
import type { Subject } from '../store/ports/limits.ts';
import type { KeyStatus, StoredKey } from '../store/ports/records.ts';
import {
  addressRanges,
  capArguments,
  dataTags,
  expirySpanMs,
  expiryTime,
  givenId,
  graceMs,
  holdMode,
  keyName,
  modelPatterns,
  type RequestedCaps,
  requiredTags,
  scopes,
  strictness,
} from './arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findKey,
  findLivingKey,
  findWorkspace,
  type Json,
} from './command.ts';
import {
  auditChange,
  chooseRuleChange,
  type LayeredCaps,
  layeredCapsOf,
  NO_LAYERED_CAPS,
  OPERATOR_ACCOUNT,
} from './policy-changes.ts';
import { viewKey, viewNewKey } from './views.ts';

const create = defineCommand(
  z.strictObject({
    name: keyName,
    workspace: givenId.default('default'),
    models: modelPatterns.default(null),
    ips: addressRanges.default(null),
    scopes: scopes.default(['inference']),
    strict: strictness.default(false),
    holds: holdMode.default(null),
    required_tags: dataTags.default([]),
    expires_in_ms: expirySpanMs.optional(),
    expires_at: expiryTime.optional(),
    /** The user who creates it; null: the command line. */
    created_by: givenId.nullable().default(null),
    ...capArguments,
  }),
  async (context, given) => {
    const workspace = findWorkspace(context, given.workspace);
    const keyText = generateKeyText();
    const nowMs = context.nowMs();
    const key: StoredKey = {
      id: generateId('key'),
      name: given.name,
      accountId: workspace.accountId,
      workspaceId: workspace.id,
      hash: context.directory.hashKey(keyText),
      last4: keyText.slice(-4),
      previousHash: null,
      previousExpiresAtMs: null,
      previousLast4: null,
      models: given.models,
      ips: given.ips,
      scopes: given.scopes,
      strict: given.strict,
      holds: given.holds,
      status: 'active',
      createdAtMs: nowMs,
      expiresAtMs: chooseExpiry(nowMs, null, given),
      createdBy: given.created_by,
      disabledBy: null,
      ...requiredTags(given.required_tags),
    };
    const { changes, caps } = chooseRuleChange(context, subjectOf(key), key.accountId, given);
    const entries = auditKey(context, null, { key, caps });
    await context.policies.save([{ of: 'key', isNew: true, key }, ...changes], entries);
    return viewNewKey(key, caps, keyText);
  },
);

const list = defineCommand(z.strictObject({}), async ({ directory, limits }) =>
  [...directory.keys.values()].map((key) => viewKey(key, layeredCapsOf({ limits }, subjectOf(key)))),
);

const rotate = defineCommand(z.strictObject({ id: givenId, grace_ms: graceMs }), async (context, given) => {
  const before = findLivingKey(context, given.id);
  refuseExpired(before, context.nowMs());
  const keyText = generateKeyText();
  const key: StoredKey = {
    ...before,
    hash: context.directory.hashKey(keyText),
    last4: keyText.slice(-4),
    previousHash: given.grace_ms === 0 ? null : before.hash,
    previousExpiresAtMs: given.grace_ms === 0 ? null : context.nowMs() + given.grace_ms,
    previousLast4: given.grace_ms === 0 ? null : before.last4,
  };
  const caps = layeredCapsOf(context, subjectOf(key));
  await context.policies.save([{ of: 'key', isNew: false, key }], auditRotation(context, before, key));
  return viewNewKey(key, caps, keyText);
});

const set = defineCommand(
  z.strictObject({
    id: givenId,
    name: keyName.optional(),
    workspace: givenId.optional(),
    models: modelPatterns.optional(),
    ips: addressRanges.optional(),
    scopes: scopes.optional(),
    strict: strictness.optional(),
    holds: holdMode.optional(),
    required_tags: dataTags.optional(),
    expires_in_ms: expirySpanMs.optional(),
    expires_at: expiryTime.optional(),
    ...capArguments,
  }),
  async (context, given) => {
    const before = findLivingKey(context, given.id);
    const workspace = findWorkspace(context, given.workspace ?? before.workspaceId);
    const { requiredTags: tagsBefore = [], ...kept } = before;
    const key: StoredKey = {
      ...kept,
      name: given.name ?? before.name,
      accountId: workspace.accountId,
      workspaceId: workspace.id,
      models: given.models === undefined ? before.models : given.models,
      ips: given.ips === undefined ? before.ips : given.ips,
      scopes: given.scopes ?? before.scopes,
      strict: given.strict ?? before.strict,
      holds: given.holds === undefined ? before.holds : given.holds,
      expiresAtMs: chooseExpiry(context.nowMs(), before.expiresAtMs, given),
      ...requiredTags(given.required_tags ?? tagsBefore),
    };
    return replace(context, before, key, given);
  },
);

const withId = z.strictObject({ id: givenId });

const revoke = defineCommand(withId, async (context, { id }) => setStatus(context, findKey(context, id), 'revoked'));
const disable = defineCommand(withId, async (context, { id }) =>
  setStatus(context, findLivingKey(context, id), 'disabled'),
);
const enable = defineCommand(withId, async (context, { id }) =>
  setStatus(context, findLivingKey(context, id), 'active'),
);

function refuseExpired({ id, expiresAtMs }: StoredKey, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs > nowMs) return;
  throw new CommandFailure(
    `The key ${id} expired on ${new Date(expiresAtMs).toISOString()}, and a new secret would not work either. Extend it first: tollgate keys set ${id} --expires 30d`,
  );
}

function setStatus(context: CommandRun, key: StoredKey, status: KeyStatus): Promise<Json> {
  const { disabledByOperator: byOperator = false, ...rest } = key;
  const isOperator = context.by.authority === 'operator' && key.accountId !== OPERATOR_ACCOUNT;
  if (status === 'active' && byOperator && context.by.authority === 'account' && key.accountId !== OPERATOR_ACCOUNT) {
    throw new CommandFailure('The operator of this gateway disabled this key; ask them to enable it.', 'forbidden');
  }
  // Disabling a disabled key changes nothing, unless the operator does it.
  const isNew = key.status !== status || (isOperator && !byOperator);
  const disabledBy = status === 'disabled' ? (isNew ? context.by.actor.id : key.disabledBy) : null;
  const isLocked = status === 'disabled' && (isOperator || byOperator);
  return replace(context, key, { ...rest, status, disabledBy, ...(isLocked ? { disabledByOperator: true } : {}) }, {});
}

async function replace(context: CommandRun, before: StoredKey, key: StoredKey, given: RequestedCaps): Promise<Json> {
  const { changes, caps } = chooseRuleChange(context, subjectOf(key), key.accountId, given);
  const entries = auditKey(context, before, { key, caps });
  await context.policies.save([{ of: 'key', isNew: false, key }, ...changes], entries);
  return viewKey(key, caps);
}

function subjectOf({ id }: StoredKey): Subject {
  return { kind: 'key', id };
}

/** Unix ms; null: never. A duration counts from now. @throws CommandFailure for a time in the past. */
function chooseExpiry(
  nowMs: number,
  before: number | null,
  given: { readonly expires_in_ms?: number | null | undefined; readonly expires_at?: number | null | undefined },
): number | null {
  if (given.expires_in_ms !== undefined && given.expires_at !== undefined) {
    throw new CommandFailure('expires_at: found together with expires_in_ms, expected one of them', 'usage');
  }
  if (given.expires_in_ms !== undefined) return given.expires_in_ms === null ? null : nowMs + given.expires_in_ms;
  const atMs = given.expires_at === undefined ? before : given.expires_at;
  if (atMs === null || atMs === before || atMs > nowMs) return atMs;
  throw new CommandFailure(
    `expires_at: found ${new Date(atMs).toISOString()}, which is in the past, expected a future time, or null for never`,
    'usage',
  );
}

function auditKey(
  run: CommandRun,
  before: StoredKey | null,
  after: { readonly key: StoredKey; readonly caps: LayeredCaps },
) {
  const { key, caps } = after;
  const capsBefore = before === null ? NO_LAYERED_CAPS : layeredCapsOf(run, subjectOf(before));
  const change = {
    subject: subjectOf(key),
    before: before === null ? null : viewKey(before, capsBefore),
    after: viewKey(key, caps),
  };
  const entries = auditChange(run, { ...change, account: key.accountId, workspace: key.workspaceId });
  if (before === null || before.workspaceId === key.workspaceId) return entries;
  // The audit trail of the key's former workspace must show where the key went.
  return [...entries, ...auditChange(run, { ...change, account: before.accountId, workspace: before.workspaceId })];
}

/** A rotation is recorded even if its last four characters happen to be the same. */
function auditRotation(run: CommandRun, before: StoredKey, key: StoredKey) {
  const rotatedAt = new Date(run.nowMs()).toISOString();
  return auditChange(run, {
    account: key.accountId,
    workspace: key.workspaceId,
    subject: subjectOf(key),
    before: viewKey(before, NO_LAYERED_CAPS),
    after: { ...viewKey(key, NO_LAYERED_CAPS), rotated_at: rotatedAt },
  });
}

const PLAYGROUND_KEY_MS = 12 * 3_600_000;
/** Another tab of the member may still use the secret before. */
const PLAYGROUND_GRACE_MS = 3_600_000;
/** Of a new key: 5 USD a day. Members may change it like that of any key. */
const PLAYGROUND_CAPS = { budget_usd: 5_000_000_000n, budget_window: 'day' } as const;

/** A member's key for the playground: one per workspace, with a new secret each time. */
const playground = defineCommand(z.strictObject({ workspace: givenId, person: givenId }), async (context, given) => {
  const workspace = findWorkspace(context, given.workspace);
  const { id, before } = findPlaygroundKey(context, workspace.id, given.person);
  if (before?.status === 'disabled') {
    throw new CommandFailure(
      `Your playground key ${id} is disabled. Ask an admin of the account to enable it, or use another API key.`,
      'forbidden',
    );
  }
  const nowMs = context.nowMs();
  const keyText = generateKeyText();
  const secret = { hash: context.directory.hashKey(keyText), last4: keyText.slice(-4) };
  const previous = {
    previousHash: before?.hash ?? null,
    previousExpiresAtMs: before === null ? null : nowMs + PLAYGROUND_GRACE_MS,
    previousLast4: before?.last4 ?? null,
  };
  const key: StoredKey = {
    ...(before ?? newPlaygroundKey(id, workspace.accountId, workspace.id, given.person, nowMs)),
    ...secret,
    ...previous,
    expiresAtMs: nowMs + PLAYGROUND_KEY_MS,
  };
  const subject = { kind: 'key', id } as const;
  const { changes, caps } =
    before === null
      ? chooseRuleChange(context, subject, key.accountId, PLAYGROUND_CAPS)
      : { changes: [], caps: layeredCapsOf(context, subject) };
  const entries = auditChange(context, {
    account: key.accountId,
    workspace: key.workspaceId,
    subject,
    before: before === null ? null : viewKey(before, NO_LAYERED_CAPS),
    after: before === null ? viewKey(key, caps) : viewKey(key, NO_LAYERED_CAPS),
  });
  await context.policies.save([{ of: 'key', isNew: before === null, key }, ...changes], entries);
  return viewNewKey(key, caps, keyText);
});

function newPlaygroundKey(id: string, accountId: string, workspaceId: string, person: string, nowMs: number) {
  return {
    id,
    name: 'Playground',
    accountId,
    workspaceId,
    models: null,
    ips: null,
    scopes: ['inference'],
    strict: false,
    holds: null,
    status: 'active',
    createdAtMs: nowMs,
    createdBy: person,
    disabledBy: null,
  } as const;
}

/**
 * The id follows from the member and the workspace, so that it cannot be mistaken for a key that the member created by
 * hand. A revoked key, or one that was moved, is followed by the next id.
 */
function findPlaygroundKey({ directory }: CommandRun, workspace: string, person: string) {
  for (let nth = 1; ; nth++) {
    const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify([person, workspace, nth])).digest('hex');
    const id = `key_pg${digest.slice(0, 18)}`;
    const key = directory.keys.get(id);
    if (key === undefined) return { id, before: null };
    if (key.status !== 'revoked' && key.workspaceId === workspace && key.createdBy === person) {
      return { id, before: key };
    }
  }
}

export const KEY_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['keys.create', create],
  ['keys.list', list],
  ['keys.rotate', rotate],
  ['keys.playground', playground],
  ['keys.set', set],
  ['keys.revoke', revoke],
  ['keys.disable', disable],
  ['keys.enable', enable],
];
