/** Owns the commands about keys. Each is durable before it binds calls, and binds them at once. */
import { z } from 'zod';
import { generateId, generateKeyText } from '../identity/key-format.ts';
import type { Subject } from '../store/limits-port.ts';
import type { KeyStatus, StoredKey } from '../store/ports.ts';
import {
  addressRanges,
  expirySpanMs,
  givenId,
  graceMs,
  holdMode,
  keyName,
  modelPatterns,
  scopes,
  strictness,
} from './arguments.ts';
import { capArguments, type GivenCaps } from './caps-arguments.ts';
import { type ControlCommand, type ControlContext, defineCommand, type Json } from './command.ts';
import { findKey, findLivingKey, findWorkspace } from './find.ts';
import { keepAndBind } from './keep-and-bind.ts';
import { chooseRuleChange } from './rule-change.ts';
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
    expires_in_ms: expirySpanMs.default(null),
    /** The person who makes it; null: the command line. */
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
      models: given.models,
      ips: given.ips,
      scopes: given.scopes,
      strict: given.strict,
      holds: given.holds,
      status: 'active',
      createdAtMs: nowMs,
      expiresAtMs: given.expires_in_ms === null ? null : nowMs + given.expires_in_ms,
      createdBy: given.created_by,
    };
    const { changes, caps } = chooseRuleChange(context, subjectOf(key), given);
    await keepAndBind(context, [{ of: 'key', isNew: true, key }, ...changes]);
    return viewNewKey(key, caps, keyText);
  },
);

const list = defineCommand(z.strictObject({}), async ({ directory, limits }) =>
  [...directory.keys.values()].map((key) => viewKey(key, limits.get(subjectOf(key)))),
);

const rotate = defineCommand(z.strictObject({ id: givenId, grace_ms: graceMs }), async (context, given) => {
  const before = findLivingKey(context, given.id);
  const keyText = generateKeyText();
  const key: StoredKey = {
    ...before,
    hash: context.directory.hashKey(keyText),
    last4: keyText.slice(-4),
    previousHash: given.grace_ms === 0 ? null : before.hash,
    previousExpiresAtMs: given.grace_ms === 0 ? null : context.nowMs() + given.grace_ms,
  };
  await keepAndBind(context, [{ of: 'key', isNew: false, key }]);
  return viewNewKey(key, context.limits.get(subjectOf(key)), keyText);
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
    expires_in_ms: expirySpanMs.optional(),
    ...capArguments,
  }),
  async (context, given) => {
    const before = findLivingKey(context, given.id);
    const workspace = findWorkspace(context, given.workspace ?? before.workspaceId);
    const key: StoredKey = {
      ...before,
      name: given.name ?? before.name,
      accountId: workspace.accountId,
      workspaceId: workspace.id,
      models: given.models === undefined ? before.models : given.models,
      ips: given.ips === undefined ? before.ips : given.ips,
      scopes: given.scopes ?? before.scopes,
      strict: given.strict ?? before.strict,
      holds: given.holds === undefined ? before.holds : given.holds,
      expiresAtMs: expiryAfter(context, before, given.expires_in_ms),
    };
    return replace(context, key, given);
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

function setStatus(context: ControlContext, key: StoredKey, status: KeyStatus): Promise<Json> {
  return replace(context, { ...key, status }, {});
}

async function replace(context: ControlContext, key: StoredKey, given: GivenCaps): Promise<Json> {
  const { changes, caps } = chooseRuleChange(context, subjectOf(key), given);
  await keepAndBind(context, [{ of: 'key', isNew: false, key }, ...changes]);
  return viewKey(key, caps);
}

function subjectOf({ id }: StoredKey): Subject {
  return { kind: 'key', id };
}

function expiryAfter(context: ControlContext, before: StoredKey, spanMs: number | null | undefined): number | null {
  if (spanMs === undefined) return before.expiresAtMs;
  return spanMs === null ? null : context.nowMs() + spanMs;
}

export const KEY_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['keys.create', create],
  ['keys.list', list],
  ['keys.rotate', rotate],
  ['keys.set', set],
  ['keys.revoke', revoke],
  ['keys.disable', disable],
  ['keys.enable', enable],
];
