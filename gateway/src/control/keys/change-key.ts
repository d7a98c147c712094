/** Chooses the changes of keys: of their settings, and of their status. Each is stored with its audit entries. */
import { z } from 'zod';
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import type { Subject } from '../../store/ports/limits.ts';
import type { PolicyChange } from '../../store/ports/policy.ts';
import type { KeyStatus, StoredKey } from '../../store/ports/records.ts';
import {
  addressRanges,
  capArguments,
  changeTags,
  dataTags,
  expirySpanMs,
  expiryTime,
  givenId,
  holdMode,
  keyName,
  keyTagChanges,
  modelPatterns,
  type RequestedCaps,
  requiredTags,
  scopes,
  strictness,
} from '../arguments.ts';
import { CommandFailure, type CommandRun, findWorkspace, type Json } from '../command.ts';
import {
  auditChange,
  chooseRuleChange,
  type LayeredCaps,
  layeredCapsOf,
  NO_LAYERED_CAPS,
  OPERATOR_ACCOUNT,
} from '../policy-changes.ts';
import { viewKey } from '../views.ts';

/** The settings of a key; omitted ones stay. */
export const settings = {
  name: keyName.optional(),
  workspace: givenId.optional(),
  models: modelPatterns.optional(),
  ips: addressRanges.optional(),
  scopes: scopes.optional(),
  strict: strictness.optional(),
  holds: holdMode.optional(),
  required_tags: dataTags.optional(),
  tags: keyTagChanges.optional(),
  expires_in_ms: expirySpanMs.optional(),
  expires_at: expiryTime.optional(),
  ...capArguments,
};
const settingsShape = z.object(settings);
export type GivenSettings = z.output<typeof settingsShape>;

/** A change that is not stored yet. */
export interface KeyChange {
  readonly changes: readonly PolicyChange[];
  readonly entries: readonly NewAuditEntry[];
  /** The key afterwards. */
  readonly view: Json;
}

/** Stores all changes, or none. */
export function saveKeys({ policies }: CommandRun, chosen: readonly KeyChange[]): Promise<void> {
  return policies.save(
    chosen.flatMap(({ changes }) => changes),
    chosen.flatMap(({ entries }) => entries),
  );
}

/** @throws CommandFailure */
export function chooseSettings(context: CommandRun, before: StoredKey, given: GivenSettings): KeyChange {
  const workspace = findWorkspace(context, given.workspace ?? before.workspaceId);
  const { requiredTags: requiredBefore = [], tags, ...kept } = before;
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
    ...requiredTags(given.required_tags ?? requiredBefore),
    ...changeTags(tags, given.tags),
  };
  return chooseChange(context, before, key, given);
}

/** @throws CommandFailure for a key that only the operator enables */
export function chooseStatus(context: CommandRun, key: StoredKey, status: KeyStatus): KeyChange {
  const { disabledByOperator: byOperator = false, ...rest } = key;
  const isOperator = context.by.authority === 'operator' && key.accountId !== OPERATOR_ACCOUNT;
  if (status === 'active' && byOperator && context.by.authority === 'account' && key.accountId !== OPERATOR_ACCOUNT) {
    throw new CommandFailure('The operator of this gateway disabled this key; ask them to enable it.', 'forbidden');
  }
  // Disabling a disabled key changes nothing, unless it takes the right to enable it from its creator or its account.
  const fromCreator = key.createdBy !== null && key.disabledBy === key.createdBy;
  const isNew = key.status !== status || (isOperator && !byOperator) || fromCreator;
  const disabledBy = status === 'disabled' ? (isNew ? context.by.actor.id : key.disabledBy) : null;
  const isLocked = status === 'disabled' && (isOperator || byOperator);
  const changed = { ...rest, status, disabledBy, ...(isLocked ? ({ disabledByOperator: true } as const) : {}) };
  return chooseChange(context, key, changed, {});
}

function chooseChange(context: CommandRun, before: StoredKey, key: StoredKey, given: RequestedCaps): KeyChange {
  const { changes, caps } = chooseRuleChange(context, subjectOf(key), key.accountId, given);
  return {
    changes: [{ of: 'key', isNew: false, key }, ...changes],
    entries: auditKey(context, before, { key, caps }),
    view: viewKey(key, caps),
  };
}

export function subjectOf({ id }: StoredKey): Subject {
  return { kind: 'key', id };
}

/** Unix ms; null: never. A duration counts from now. @throws CommandFailure for a time in the past. */
export function chooseExpiry(
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

export function auditKey(
  run: CommandRun,
  before: StoredKey | null,
  after: { readonly key: StoredKey; readonly caps: LayeredCaps },
) {
  const { key, caps } = after;
  // With another status, the entry itself says who changed it.
  const whoDisabled = ({ disabledBy }: StoredKey) => (before?.status === key.status ? { disabled_by: disabledBy } : {});
  const capsBefore = before === null ? NO_LAYERED_CAPS : layeredCapsOf(run, subjectOf(before));
  const change = {
    subject: subjectOf(key),
    before: before === null ? null : { ...viewKey(before, capsBefore), ...whoDisabled(before) },
    after: { ...viewKey(key, caps), ...whoDisabled(key) },
  };
  const entries = auditChange(run, { ...change, account: key.accountId, workspace: key.workspaceId });
  if (before === null || before.workspaceId === key.workspaceId) return entries;
  // The audit trail of the key's former workspace must show where the key went.
  return [...entries, ...auditChange(run, { ...change, account: before.accountId, workspace: before.workspaceId })];
}
