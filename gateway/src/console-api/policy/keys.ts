/** Serves the routes that list, create and change API keys. Checks permissions and leaves the changes to commands. */

import { formatNanoUsd, parseUsd } from '../../billing/money.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { BY_COMMAND_LINE } from '../../store/ports/audit.ts';
import { type BindingCaps, inLayer } from '../../store/ports/limits.ts';
import type { StoredKey } from '../../store/ports/records.ts';
import type { Reply } from '../contract/contract.ts';
import type { Actor, Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { dayBounds } from '../kernel/time-range.ts';
import { readSpans } from '../usage/usage-range.ts';
import { capsArguments, layerFor, type RequestedCaps, type ShownCaps, showLayers } from './caps.ts';
import { type BudgetStates, nameOf, readBudgetStates, showTime } from './limits.ts';
import {
  checkScopes,
  findOwnKey,
  findWorkspace,
  type PolicyParts,
  personBehind,
  runCommand,
  seesWorkspace,
} from './policy-parts.ts';

const HOUR_MS = 3_600_000;
const GRACES_MS = { now: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const;

export function keyHandlers(parts: PolicyParts) {
  const { directory } = parts.deps;
  const show = (id: string, tenancy: Tenancy) => {
    const key = directory.keys.get(id);
    if (key === undefined) throw new Error(`the key ${id} is gone after it was changed`);
    return showKey(parts, key, tenancy, parts.nowMs());
  };
  return {
    'GET /accounts/{account}/keys': async ({ tenancy }) => {
      const isMine = (account: string, workspace: string) =>
        account === tenancy.account && seesWorkspace(tenancy, workspace);
      const keys = [...directory.keys.values()].filter(({ accountId, workspaceId }) => isMine(accountId, workspaceId));
      const workspaces = [...directory.workspaces.values()].filter(({ accountId, id }) => isMine(accountId, id));
      return {
        keys: await showKeys(parts, keys.sort(byAge), tenancy, parts.nowMs()),
        workspaces: workspaces.map(({ id }) => id),
      };
    },
    'POST /accounts/{account}/keys': async (call) => {
      const { caps, ...given } = call.body;
      findWorkspace(parts, call.tenancy, given.workspace);
      checkScopes(call, given.scopes);
      const made = await runCommand(parts.control, call, 'keys.create', {
        ...given,
        ...capsArguments(caps),
        created_by: personBehind(parts, call.actor),
      });
      return { key: await show(String(made.id), call.tenancy), secret: String(made.key) };
    },
    'POST /accounts/{account}/playground-key': async (call) => {
      const { id: workspace } = findWorkspace(parts, call.tenancy, call.body.workspace);
      const person = personBehind(parts, call.actor);
      const made = await runCommand(parts.control, call, 'keys.playground', { workspace, person });
      return {
        key: { id: String(made.id), last4: String(made.last4) },
        secret: String(made.key),
        expires_at: String(made.expires_at),
      };
    },
    'PATCH /accounts/{account}/keys/{key}': async (call) => {
      const { caps, ...given } = call.body;
      const { id } = findLivingKey(parts, call);
      if (given.workspace !== undefined) findWorkspace(parts, call.tenancy, given.workspace);
      const limits = caps === undefined ? {} : capsArguments(caps);
      await runCommand(parts.control, call, 'keys.set', { id, ...given, ...limits }, () => {
        const key = findLivingKey(parts, call);
        checkScopes(call, given.scopes ?? key.scopes);
        if (caps !== undefined) checkTightens(parts, call.tenancy, key, caps);
      });
      return show(id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/rotate': async (call) => {
      const { id } = findLivingKey(parts, call);
      const given = { id, grace_ms: GRACES_MS[call.body.grace] };
      // The caller receives the new secret.
      const check = () => checkScopes(call, findLivingKey(parts, call).scopes);
      const rotated = await runCommand(parts.control, call, 'keys.rotate', given, check);
      return { key: await show(id, call.tenancy), secret: String(rotated.key) };
    },
    'POST /accounts/{account}/keys/{key}/disable': async (call) => {
      const { id } = findLivingKey(parts, call);
      await runCommand(parts.control, call, 'keys.disable', { id });
      return show(id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/enable': async (call) => {
      const { id } = findLivingKey(parts, call);
      await runCommand(parts.control, call, 'keys.enable', { id }, () => {
        const key = findLivingKey(parts, call);
        checkScopes(call, key.scopes);
        checkMayEnable(call, key);
      });
      return show(id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/revoke': async (call) => {
      const { id } = findOwnKey(parts, call, call.path.key);
      await runCommand(parts.control, call, 'keys.revoke', { id });
      return show(id, call.tenancy);
    },
  } satisfies Partial<Handlers>;
}

function findLivingKey(
  parts: PolicyParts,
  call: Parameters<typeof findOwnKey>[1] & { readonly path: { readonly key: string } },
): StoredKey {
  const key = findOwnKey(parts, call, call.path.key);
  if (key.status !== 'revoked') return key;
  throw new ConsoleFailure('conflict', 'this key is revoked permanently; create another one', { page: '/app/keys' });
}

/** Newest first. */
function byAge(one: StoredKey, other: StoredKey): number {
  return other.createdAtMs - one.createdAtMs || (one.id < other.id ? -1 : 1);
}

/** Throws `forbidden` where a change removes or raises a cap, or changes the window of a budget. Omitted caps stay. */
export function checkTightens(
  { deps }: Pick<PolicyParts, 'deps'>,
  tenancy: Tenancy,
  { id }: StoredKey,
  caps: RequestedCaps,
): void {
  const before = deps.billing.rules.get(inLayer({ kind: 'key', id }, layerFor(tenancy)));
  if (tenancy.may('limits.write') || before === null) return;
  requireAtMost('rpm', before.requestsPerMinute, caps.rpm);
  requireAtMost('tpm', before.tokensPerMinute, caps.tpm);
  requireAtMost('concurrency', before.concurrency, caps.concurrency);
  const { budget } = before;
  const { budget_usd, budget_window } = caps;
  if (budget === null) return;
  if (budget_usd === null || (budget_usd !== undefined && parseUsd(budget_usd, 'caps.budget_usd') > budget.amount)) {
    throw loosens('budget_usd', `${budget_usd ?? 'no budget'} instead of ${formatNanoUsd(budget.amount)}`);
  }
  if (budget_window !== undefined && budget_window !== budget.window) {
    throw loosens('budget_window', `a window other than ${budget.window}`);
  }
}

type CountedCap = 'rpm' | 'tpm' | 'concurrency';

function requireAtMost(member: CountedCap, before: number | null, cap: number | null | undefined): void {
  if (before === null || cap === undefined || (cap !== null && cap <= before)) return;
  throw loosens(member, `${cap ?? 'no limit'} instead of ${before}`);
}

function loosens(member: keyof ShownCaps, found: string): ConsoleFailure {
  return new ConsoleFailure(
    'forbidden',
    `caps.${member}: found ${found}; you can only lower the limits of your keys; ask an owner or admin of the account to raise or remove them`,
    { member: `caps.${member}`, page: '/app/members' },
  );
}

/** Throws `forbidden` where someone else, or an unknown person, disabled the key. */
export function checkMayEnable(
  { actor, tenancy }: { readonly actor: Actor; readonly tenancy: Tenancy },
  { status, disabledBy }: StoredKey,
): void {
  if (status !== 'disabled' || tenancy.may('limits.write')) return;
  if (actor.kind !== 'anonymous' && disabledBy === actor.id) return;
  throw new ConsoleFailure(
    'forbidden',
    'another member disabled this key; only an owner or admin of the account can enable it',
    { page: '/app/members' },
  );
}

type ShownKey = Reply<'GET /accounts/{account}/keys'>['keys'][number];

const WEEK_DAYS = 7;

/** Renders keys of one account, in order. */
export async function showKeys(
  parts: PolicyParts,
  keys: readonly StoredKey[],
  tenancy: Tenancy,
  nowMs: number,
): Promise<ShownKey[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const zone = parts.deps.billing.timeZoneOf(first.accountId);
  const ids = keys.map(({ id }) => id);
  const { rules, budgetZoneOf } = parts.deps.billing;
  const bindings = new Map<string, readonly BindingCaps[]>();
  for (const id of ids) {
    const both = (['operator', 'account'] as const)
      .map((layer) => rules.bindingOf(inLayer({ kind: 'key', id }, layer), first.accountId, budgetZoneOf, nowMs))
      .filter((binding) => binding !== null);
    bindings.set(id, both);
  }
  const [names, states, weeks] = await Promise.all([
    parts.personNames(
      keys.flatMap(({ createdBy, disabledBy }) => [createdBy, disabledBy].filter((one) => one !== null)),
    ),
    readBudgetStates(parts, [...bindings.values()].flat()),
    readSpans(parts.usage, {
      account: first.accountId,
      workspaces: tenancy.workspaces,
      timeZone: zone,
      by: 'key',
      ids,
      bounds: dayBounds(zone, nowMs, WEEK_DAYS),
    }),
  ]);
  return keys.map((key) => {
    const week = weeks.get(key.id) ?? [];
    const days = Array.from({ length: WEEK_DAYS }, (_, day) => week[day] ?? { requests: 0, cost: 0n });
    return {
      id: key.id,
      name: key.name,
      last4: key.last4,
      workspace: key.workspaceId,
      owner: key.createdBy === null ? null : { id: key.createdBy, name: names.get(key.createdBy) ?? key.createdBy },
      models: key.models === null ? null : [...key.models],
      ips: key.ips === null ? null : [...key.ips],
      scopes: [...key.scopes],
      strict: key.strict,
      required_tags: [...(key.requiredTags ?? [])],
      tags: { ...key.tags },
      ...showLayers(rules, { kind: 'key', id: key.id }, tenancy),
      status: statusOf(parts, key, nowMs),
      disabled_by: showActor(parts, key.disabledBy, names),
      created_at: showTime(key.createdAtMs),
      expires_at: key.expiresAtMs === null ? null : showTime(key.expiresAtMs),
      ...showUses(parts, key, nowMs),
      budget: showBudget(bindings.get(key.id) ?? [], states),
      week_nano_usd: days.map(({ cost }) => cost.toString()),
      week_requests: days.map(({ requests }) => requests),
    };
  });
}

/** The state that a request with the key would meet. */
function statusOf({ deps }: PolicyParts, key: StoredKey, nowMs: number): ShownKey['status'] {
  const status = deps.directory.byHash.get(key.hash)?.status ?? key.status;
  return status === 'active' && key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : status;
}

/** The actor of a change, by their current name. */
function showActor({ deps }: PolicyParts, id: string | null, names: ReadonlyMap<string, string>) {
  if (id === null) return null;
  const isCommandLine = id === BY_COMMAND_LINE.actor.id;
  return { id, name: isCommandLine ? 'the command line' : (names.get(id) ?? deps.directory.keys.get(id)?.name ?? id) };
}

/** Throws Error where the list does not contain the key. */
export async function showKey(parts: PolicyParts, key: StoredKey, tenancy: Tenancy, nowMs: number): Promise<ShownKey> {
  const [shown] = await showKeys(parts, [key], tenancy, nowMs);
  if (shown === undefined) throw new Error(`the key ${key.id} could not be shown`);
  return shown;
}

function showUses({ deps }: PolicyParts, key: StoredKey, nowMs: number): Pick<ShownKey, 'rotation' | 'last_used'> {
  const useOf = (hash: string | null) => (hash === null ? undefined : deps.directory.byHash.get(hash)?.use);
  const [current, previous] = [useOf(key.hash), useOf(key.previousHash)];
  const newest =
    (previous?.atMs ?? Number.NEGATIVE_INFINITY) > (current?.atMs ?? Number.NEGATIVE_INFINITY) ? previous : current;
  const last_used =
    newest === undefined || showUse(newest.atMs) === null ? null : { at: showTime(newest.atMs), client: newest.client };
  const { previousHash, previousExpiresAtMs: endsAtMs } = key;
  if (previousHash === null || endsAtMs === null || endsAtMs <= nowMs) return { rotation: null, last_used };
  const rotation = {
    old_last4: key.previousLast4,
    ends_at: showTime(endsAtMs),
    old_used_at: showUse(previous?.atMs),
    new_used_at: showUse(current?.atMs),
  };
  return { rotation, last_used };
}

function showUse(atMs: number | undefined): string | null {
  return atMs === undefined || !Number.isFinite(atMs) ? null : showTime(atMs);
}

/** The budget with the smaller remaining amount: the operator's or the account's own. */
function showBudget(bindings: readonly BindingCaps[], states: BudgetStates): ShownKey['budget'] {
  let tightest: { readonly left: bigint; readonly shown: ShownKey['budget'] } | null = null;
  for (const { subject, caps } of bindings) {
    if (caps.budget === null) continue;
    const { settled, held } = states.get(nameOf(subject)) ?? { settled: 0n, held: 0n };
    const left = caps.budget.amount - settled - held;
    if (tightest !== null && tightest.left <= left) continue;
    const used = { used_nano_usd: settled.toString(), held_nano_usd: held.toString() };
    tightest = { left, shown: { ...used, limit_nano_usd: caps.budget.amount.toString() } };
  }
  return tightest?.shown ?? null;
}
