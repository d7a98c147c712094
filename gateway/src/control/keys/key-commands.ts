/** Defines the commands for keys. Each change is durable before it applies to calls, and then applies at once. */
import { z } from 'zod';
import { generateId, generateKeyText } from '../../identity/key-format.ts';
import type { StoredKey } from '../../store/ports/records.ts';
import {
  addressRanges,
  asRead,
  capArguments,
  changeTags,
  dataTags,
  expirySpanMs,
  expiryTime,
  givenId,
  graceMs,
  holdMode,
  keyName,
  keyTags,
  modelPatterns,
  requiredTags,
  scopes,
  strictness,
} from '../arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findKey,
  findLivingKey,
  findWorkspace,
  type Json,
} from '../command.ts';
import { auditChange, chooseRuleChange, layeredCapsOf, NO_LAYERED_CAPS, refuseStale } from '../policy-changes.ts';
import { viewKey, viewNewKey } from '../views.ts';
import {
  auditKey,
  chooseExpiry,
  chooseSettings,
  chooseStatus,
  type GivenSettings,
  type KeyChange,
  saveKeys,
  settings,
  subjectOf,
} from './change-key.ts';
import { playground } from './playground-key.ts';

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
    tags: keyTags.default({}),
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
      ...changeTags(undefined, given.tags),
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
  z.strictObject({ id: givenId, ...settings, before: asRead }),
  async (context, { id, before, ...given }) => {
    const key = findLivingKey(context, id);
    refuseStale(key.name, viewKey(key, layeredCapsOf(context, subjectOf(key))), before);
    return saveOne(context, chooseSettings(context, key, given));
  },
);

const withId = z.strictObject({ id: givenId });

const revoke = defineCommand(withId, async (context, { id }) =>
  saveOne(context, chooseStatus(context, findKey(context, id), 'revoked')),
);
const disable = defineCommand(withId, async (context, { id }) =>
  saveOne(context, chooseStatus(context, findLivingKey(context, id), 'disabled')),
);
const enable = defineCommand(withId, async (context, { id }) =>
  saveOne(context, chooseStatus(context, findLivingKey(context, id), 'active')),
);

const KEYS_MAX = 200;

/** Changes several keys, all or none. Each gets the audit entry of the command that changes one. */
const bulk = defineCommand(
  z.strictObject({
    ids: z
      .array(givenId)
      .min(1, { error: 'found no key, expected at least one' })
      .max(KEYS_MAX, { error: `expected at most ${KEYS_MAX} keys` })
      .transform((ids) => [...new Set(ids)]),
    action: z.enum(['disable', 'enable', 'revoke', 'set']),
    set: z
      .strictObject({
        tags: settings.tags,
        expires_in_ms: settings.expires_in_ms,
        expires_at: settings.expires_at,
        ...capArguments,
      })
      .default({}),
  }),
  async (context, { ids, action, set: given }) => {
    const run = { ...context, act: `keys.${action}` };
    const chosen = ids.map((id) => chooseOneOfMany(run, id, action, given));
    await saveKeys(run, chosen);
    return chosen.map(({ view }) => view);
  },
);

function chooseOneOfMany(
  run: CommandRun,
  id: string,
  action: 'disable' | 'enable' | 'revoke' | 'set',
  given: GivenSettings,
): KeyChange {
  const key = findKey(run, id);
  try {
    if (action === 'revoke') return chooseStatus(run, key, 'revoked');
    findLivingKey(run, id);
    if (action === 'set') return chooseSettings(run, key, given);
    return chooseStatus(run, key, action === 'disable' ? 'disabled' : 'active');
  } catch (fault) {
    if (!(fault instanceof CommandFailure)) throw fault;
    throw new CommandFailure(`${fault.message} This is the key ${key.name} (${id}); no key was changed.`, fault.kind);
  }
}

async function saveOne(context: CommandRun, chosen: KeyChange): Promise<Json> {
  await saveKeys(context, [chosen]);
  return chosen.view;
}

function refuseExpired({ id, expiresAtMs }: StoredKey, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs > nowMs) return;
  throw new CommandFailure(
    `The key ${id} expired on ${new Date(expiresAtMs).toISOString()}, and a new secret would not work either. Extend it first: tollgate keys set ${id} --expires 30d`,
  );
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

export const KEY_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['keys.create', create],
  ['keys.list', list],
  ['keys.rotate', rotate],
  ['keys.playground', playground],
  ['keys.set', set],
  ['keys.revoke', revoke],
  ['keys.disable', disable],
  ['keys.enable', enable],
  ['keys.bulk', bulk],
];
