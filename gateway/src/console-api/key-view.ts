/** Owns how keys are shown: what they may do, who made them, what they used and when. Never a secret, never a hash. */
import { BY_COMMAND_LINE } from '../store/audit-port.ts';
import { type BindingCaps, inLayer } from '../store/limits-port.ts';
import type { StoredKey } from '../store/ports.ts';
import type { Tenancy } from './actor.ts';
import type { Reply } from './contract.ts';
import { dayBounds } from './day-bounds.ts';
import { type BudgetStates, nameOf, readBudgetStates, showTime } from './gauges.ts';
import { showLayers } from './limit-layers.ts';
import type { PolicyParts } from './policy-parts.ts';
import { readSpans } from './usage-spans.ts';

export type ShownKey = Reply<'GET /accounts/{account}/keys'>['keys'][number];

const WEEK_DAYS = 7;

/** The keys, all of one account, in their order. */
export async function showKeys(
  parts: PolicyParts,
  keys: readonly StoredKey[],
  tenancy: Pick<Tenancy, 'account' | 'may'>,
  nowMs: number,
): Promise<ShownKey[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const zone = parts.gate.desk.timeZoneOf(first.accountId);
  const ids = keys.map(({ id }) => id);
  const { rules, budgetZoneOf } = parts.gate.desk;
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
      ...showLayers(rules, { kind: 'key', id: key.id }, tenancy),
      status: key.status === 'active' && key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : key.status,
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

/** Whoever made a change, by the name that he has now. */
function showActor({ gate }: PolicyParts, id: string | null, names: ReadonlyMap<string, string>) {
  if (id === null) return null;
  const isCommandLine = id === BY_COMMAND_LINE.actor.id;
  return { id, name: isCommandLine ? 'the command line' : (names.get(id) ?? gate.directory.keys.get(id)?.name ?? id) };
}

/** Throws Error where the list has not one key for each that was asked for. */
export async function showKey(
  parts: PolicyParts,
  key: StoredKey,
  tenancy: Pick<Tenancy, 'account' | 'may'>,
  nowMs: number,
): Promise<ShownKey> {
  const [shown] = await showKeys(parts, [key], tenancy, nowMs);
  if (shown === undefined) throw new Error(`the key ${key.id} could not be shown`);
  return shown;
}

function showUses({ gate }: PolicyParts, key: StoredKey, nowMs: number): Pick<ShownKey, 'rotation' | 'last_used'> {
  const useOf = (hash: string | null) => (hash === null ? undefined : gate.directory.byHash.get(hash)?.use);
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

/** Of the operator's budget and the account's own, the one that has less left. */
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
