/** Finds budgets that reached a percentage, and balances that are low. */
import { chooseRemedy } from '../call/reason/explain-reason.ts';
import type { AlertRule, FoundAlert } from '../store/ports/books/alerts.ts';
import type { AccountBalance } from '../store/ports/ledger.ts';
import { type BindingCaps, type BudgetWindow, layerOf } from '../store/ports/limits.ts';
import { DAY_MS, foundAlert, once, shownTime, shownUsd } from './found-alert.ts';

export interface MoneySources {
  /** The budgets of the account, its workspaces, keys and end users, with their current windows. */
  budgetsOf(account: string, nowMs: number): readonly BindingCaps[];
  /** Settled spend of the current windows, in the order of the bindings; null: not known yet. */
  readSpent(bindings: readonly BindingCaps[]): Promise<readonly (bigint | null)[]>;
  /** The same budget one window before; null: it has one window only. */
  windowBefore(account: string, binding: BindingCaps): BindingCaps | null;
  /** Settled spend by subject id, of any window; all bindings have one kind and window. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
  /** The changes of the account's budgets since a time, oldest first. */
  readBudgetChanges(account: string, sinceMs: number): Promise<readonly BudgetChange[]>;
  readBalances(account: string): Promise<readonly AccountBalance[]>;
  /** The name of a subject for people. */
  nameOf(subject: BindingCaps['subject']): string;
}

export interface BudgetChange {
  readonly subject: BindingCaps['subject'];
  readonly atMs: number;
  /** The amount until then; null: there was no budget, or it had another window. */
  readonly before: bigint | null;
}

const WINDOWS: Readonly<Record<BudgetWindow, string>> = {
  day: 'Daily budget',
  week: 'Weekly budget',
  month: 'Monthly budget',
  total: 'Budget',
};
const LIMITS = { label: 'Edit limits', page: '/app/limits' };
const BILLING = { label: 'Top up', page: '/app/billing' };
/** Longer than a server is expected to be stopped, in days. */
const LOOK_BACK_WINDOWS_MAX = 40;
/** Requests that run over the end of a window are charged to it. */
const LATE_CHARGES_MS = 3_600_000;

/** `own`: the rules of the account about budgets. */
export async function findBudgets(
  sources: MoneySources,
  own: readonly AlertRule[],
  account: string,
  nowMs: number,
): Promise<readonly FoundAlert[]> {
  const bindings = sources.budgetsOf(account, nowMs);
  const spends = await sources.readSpent(bindings);
  return bindings.flatMap((binding, index) =>
    own.flatMap((rule) => judge(sources, rule, binding, spends[index] ?? 0n, nowMs)),
  );
}

/**
 * As `findBudgets`, for the windows that ended since the rules were evaluated last: after a stop of the server, and
 * for charges that came late.
 */
export async function findEndedBudgets(
  sources: MoneySources,
  own: readonly AlertRule[],
  account: string,
  nowMs: number,
): Promise<readonly FoundAlert[]> {
  const isOpen = ({ createdAtMs, evaluatedAtMs }: AlertRule, endMs: number) =>
    endMs > Math.max(createdAtMs, evaluatedAtMs - LATE_CHARGES_MS);
  const groups = new Map<string, BindingCaps[]>();
  for (const current of sources.budgetsOf(account, nowMs)) {
    let binding = sources.windowBefore(account, current);
    for (let count = 0; binding !== null && count < LOOK_BACK_WINDOWS_MAX; count += 1) {
      const ended: BindingCaps = binding;
      if (!own.some((rule) => isOpen(rule, ended.windowEndMs ?? nowMs))) break;
      const { subject, windowStartMs, windowEndMs } = ended;
      const place = `${subject.kind} ${windowStartMs} ${windowEndMs}`;
      groups.set(place, [...(groups.get(place) ?? []), ended]);
      binding = sources.windowBefore(account, ended);
    }
  }
  const found: FoundAlert[] = [];
  const ends = [...groups.values()].flatMap(([first]) => first?.windowEndMs ?? []);
  const changes = ends.length === 0 ? [] : await sources.readBudgetChanges(account, Math.min(...ends));
  for (const group of groups.values()) {
    const spends = await sources.readSpends(group);
    for (const current of group) {
      const binding = asItEnded(current, changes);
      const open = own.filter((rule) => isOpen(rule, binding.windowEndMs ?? nowMs));
      for (const rule of open) {
        found.push(...judge(sources, rule, binding, spends.get(binding.subject.id) ?? 0n, nowMs));
      }
    }
  }
  return found;
}

/** With the amount that held when the window ended. */
function asItEnded(binding: BindingCaps, changes: readonly BudgetChange[]): BindingCaps {
  const { subject, caps, windowEndMs } = binding;
  const { kind, id } = subject;
  const next = changes.find(
    (one) =>
      one.atMs >= (windowEndMs ?? 0) &&
      one.subject.kind === kind &&
      one.subject.id === id &&
      layerOf(one.subject) === layerOf(subject),
  );
  if (next === undefined || caps.budget === null) return binding;
  const budget = next.before === null ? null : { ...caps.budget, amount: next.before };
  return { ...binding, caps: { ...caps, budget } };
}

function judge(
  sources: MoneySources,
  rule: AlertRule,
  { subject, caps, windowStartMs, windowEndMs }: BindingCaps,
  spent: bigint,
  nowMs: number,
): FoundAlert[] {
  if (caps.budget === null || spent === 0n) return [];
  const { window, amount } = caps.budget;
  if (spent * 100n < amount * rule.threshold) return [];
  const hasEnded = windowEndMs !== null && windowEndMs <= nowMs;
  const name = sources.nameOf(subject);
  const what = `${WINDOWS[window]} of ${subject.kind.replace('_', ' ')} ${name}`;
  const state = spent >= amount ? 'is used up' : `reached ${(spent * 100n) / amount}%`;
  const when = windowEndMs === null ? '' : ` ${hasEnded ? 'Its window ended' : 'Resets'} ${shownTime(windowEndMs)}.`;
  const text = `${what} ${state}: ${shownUsd(spent)} of ${shownUsd(amount)}.${when}`;
  const event = [subject.kind, subject.id, subject.layer ?? '', window, windowStartMs, amount];
  const reason = { kind: 'budget_spent', subject: { type: subject.kind, id: subject.id, name } } as const;
  const finding = { event, text, remedy: chooseRemedy(reason) ?? LIMITS, repeatMs: null };
  return [foundAlert(hasEnded ? once(rule) : rule, finding, nowMs)];
}

/** `own`: the rules of the account about its balance. Once a day while it is low. */
export async function findBalances(
  sources: Pick<MoneySources, 'readBalances'>,
  own: readonly AlertRule[],
  account: string,
  nowMs: number,
): Promise<readonly FoundAlert[]> {
  const balance = (await sources.readBalances(account)).find((one) => one.account === account);
  if (balance === undefined || balance.mode !== 'prepaid') return [];
  return own
    .filter(({ threshold }) => balance.available < threshold)
    .map((rule) => {
      const text = `The balance of account ${account} is ${shownUsd(balance.available)}, below ${shownUsd(rule.threshold)}.`;
      return foundAlert(rule, { event: ['balance'], text, remedy: BILLING, repeatMs: DAY_MS }, nowMs);
    });
}
