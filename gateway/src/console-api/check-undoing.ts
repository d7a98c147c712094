/**
 * Owns what the maker of a key may not undo of what others ordered: limits are set when it is made, and tightened then; what
 * somebody else disabled stays so. Who may set limits may do both.
 */
import { formatNanoUsd, parseUsd } from '../billing/money.ts';
import type { Caps } from '../store/limits-port.ts';
import type { StoredKey } from '../store/ports.ts';
import type { Actor, Tenancy } from './actor.ts';
import type { GivenCaps, ShownCaps } from './caps-of-body.ts';
import { ConsoleFailure } from './console-failure.ts';

/** Throws `forbidden` where a cap would be taken away, raised, or counted over another window. What is left out stays. */
export function checkTightens(tenancy: Tenancy, before: Caps | null, caps: GivenCaps): void {
  if (tenancy.may('limits.write') || before === null) return;
  requireAtMost('rpm', before.requestsPerMinute, caps.rpm);
  requireAtMost('tpm', before.tokensPerMinute, caps.tpm);
  requireAtMost('concurrency', before.concurrency, caps.concurrency);
  const { budget } = before;
  const { budget_usd, budget_window } = caps;
  if (budget === null) return;
  if (budget_usd === null || (budget_usd !== undefined && parseUsd(budget_usd, 'caps.budget_usd') > budget.amount)) {
    throw loosens('budget_usd', `${budget_usd ?? 'no budget'} in place of ${formatNanoUsd(budget.amount)}`);
  }
  if (budget_window !== undefined && budget_window !== budget.window) {
    throw loosens('budget_window', `another window than ${budget.window}`);
  }
}

type CountedCap = 'rpm' | 'tpm' | 'concurrency';

function requireAtMost(member: CountedCap, before: number | null, cap: number | null | undefined): void {
  if (before === null || cap === undefined || (cap !== null && cap <= before)) return;
  throw loosens(member, `${cap ?? 'no limit'} in place of ${before}`);
}

function loosens(member: keyof ShownCaps, found: string): ConsoleFailure {
  return new ConsoleFailure(
    'forbidden',
    `caps.${member}: found ${found}; you may tighten limits of your keys, and only an owner or admin of the account lifts or raises them`,
    { member: `caps.${member}`, page: '/app/members' },
  );
}

/** Throws `forbidden` where somebody else disabled the key, or it is not known who did. */
export function checkMayEnable(
  { actor, tenancy }: { readonly actor: Actor; readonly tenancy: Tenancy },
  { status, disabledBy }: StoredKey,
): void {
  if (status !== 'disabled' || tenancy.may('limits.write')) return;
  if (actor.kind !== 'nobody' && disabledBy === actor.id) return;
  throw new ConsoleFailure(
    'forbidden',
    'somebody else disabled this key; only an owner or admin of the account enables it',
    { page: '/app/members' },
  );
}
