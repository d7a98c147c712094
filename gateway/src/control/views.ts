/**
 * Renders keys, workspaces, accounts and limits for administrators: the members of `--json`. Amounts are decimal texts
 * of nano-USD. Never contains a hash or a secret.
 */
import { formatPercent } from '../billing/money.ts';
import type { AccountBalance, Movement } from '../store/ports/ledger.ts';
import { type Caps, layerOf, type Subject } from '../store/ports/limits.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import type { Json, ModelNames } from './command.ts';
import type { LayeredCaps } from './policy-changes.ts';

type View = { readonly [member: string]: Json };

/** Renders a key; times as ISO 8601. `caps`: of its rules. */
export function viewKey(key: StoredKey, caps: LayeredCaps): View {
  return {
    id: key.id,
    name: key.name,
    account: key.accountId,
    workspace: key.workspaceId,
    last4: key.last4,
    models: key.models,
    ips: key.ips,
    scopes: key.scopes,
    strict: key.strict,
    holds: key.holds,
    required_tags: key.requiredTags ?? [],
    tags: key.tags ?? {},
    ...viewLayeredCaps(caps),
    status: key.status,
    created_at: renderTime(key.createdAtMs),
    expires_at: renderTime(key.expiresAtMs),
    previous_expires_at: renderTime(key.previousExpiresAtMs),
  };
}

/** Renders a new key with its secret, which is shown only once. */
export function viewNewKey(key: StoredKey, caps: LayeredCaps, keyText: string): View {
  const { id, ...rest } = viewKey(key, caps);
  return { id: id ?? null, key: keyText, ...rest };
}

/** Renders a workspace. */
export function viewWorkspace(workspace: StoredWorkspace, caps: LayeredCaps): View {
  return {
    id: workspace.id,
    account: workspace.accountId,
    models: workspace.models,
    bodies: workspace.bodies,
    bodies_days: workspace.bodiesDays,
    required_tags: workspace.requiredTags ?? [],
    cache: workspace.cache?.mode ?? 'off',
    cache_seconds: workspace.cache?.seconds ?? null,
    cache_since: renderTime(workspace.cache?.sinceMs ?? null),
    ...viewLayeredCaps(caps),
    created_at: renderTime(workspace.createdAtMs),
  };
}

/** Renders an account. The balance excludes amounts on hold; without any ledger entry (null) all amounts are 0. */
export function viewAccount(account: StoredAccount, balance: AccountBalance | null, caps: LayeredCaps): View {
  return {
    id: account.id,
    name: account.name,
    mode: account.mode,
    balance_nano_usd: renderAmount(balance?.available),
    held_nano_usd: renderAmount(balance?.held),
    charged_nano_usd: renderAmount(balance?.charged),
    written_off_nano_usd: renderAmount(balance?.writtenOff),
    topped_up_nano_usd: renderAmount(balance?.toppedUp),
    absorbed_attempts_nano_usd: renderAmount(balance?.absorbedAttempts),
    mark_up_percent: formatPercent(BigInt(account.markUpPpm)),
    time_zone: account.timeZone,
    holds: account.holds,
    ...viewLayeredCaps(caps),
    created_at: renderTime(account.createdAtMs),
  };
}

/** Renders a movement and the account's money after it. `moved` is 0 if the same movement had been made before. */
export function viewMovement({ id, account, note }: Movement, after: AccountBalance, moved: bigint): View {
  return {
    id,
    account,
    moved_nano_usd: moved.toString(),
    note,
    balance_nano_usd: renderAmount(after.available),
    held_nano_usd: renderAmount(after.held),
  };
}

/** Renders a limit rule: its subject, its layer, and the caps (null: none left). */
export function viewRule(subject: Subject, caps: Caps | null): View {
  const slash = subject.kind === 'end_user' ? subject.id.indexOf('/') : -1;
  return {
    kind: subject.kind,
    id: subject.id.slice(slash + 1),
    account: slash === -1 ? null : subject.id.slice(0, slash),
    layer: layerOf(subject),
    ...viewCaps(caps),
  };
}

/**
 * Renders rules, with whether each applies to anything: a rule of a model that is not served does not. `binds` null:
 * not known here.
 */
export function viewRules(
  rules: readonly { readonly subject: Subject; readonly caps: Caps }[],
  models: ModelNames | null,
): View[] {
  const served = models === null ? null : new Set(models.names);
  return rules.map(({ subject, caps }) => ({
    ...viewRule(subject, caps),
    binds: subject.kind !== 'model' || (served === null ? null : served.has(subject.id)),
  }));
}

/** Renders both layers: the operator's caps by their names, the account's own as `own_…`. */
export function viewLayeredCaps({ operator, account }: LayeredCaps): View {
  const own = Object.entries(viewCaps(account)).map(([member, cap]) => [`own_${member}`, cap] as const);
  return { ...viewCaps(operator), ...Object.fromEntries(own) };
}

function viewCaps(caps: Caps | null): View {
  return {
    rpm: caps?.requestsPerMinute ?? null,
    tpm: caps?.tokensPerMinute ?? null,
    concurrency: caps?.concurrency ?? null,
    budget_nano_usd: caps?.budget?.amount.toString() ?? null,
    budget_window: caps?.budget?.window ?? null,
  };
}

function renderAmount(amount: bigint | undefined): string {
  return (amount ?? 0n).toString();
}

function renderTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
