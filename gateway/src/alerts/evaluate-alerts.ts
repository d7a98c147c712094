/**
 * Finds the alerts that are due from the durable state of budgets and balances, and enqueues their deliveries. Repeating
 * it adds nothing: the id of a delivery follows from its rule, subject, window and limit.
 */
import { createHash } from 'node:crypto';
import { formatNanoUsd } from '../billing/money.ts';
import type { AlertDelivery, AlertRule, AlertStore } from '../store/ports/books/alerts.ts';
import type { AccountBalance } from '../store/ports/ledger.ts';
import type { BindingCaps } from '../store/ports/limits.ts';

export interface AlertSources {
  readonly alerts: Pick<AlertStore, 'readRules' | 'enqueue'>;
  /** The budgets that apply to the account, its workspaces and its keys now. */
  budgetsOf(account: string, nowMs: number): readonly BindingCaps[];
  /** Settled spend by subject id; all bindings have one kind and window. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
  readBalances(account: string): Promise<readonly AccountBalance[]>;
  /** The start of the account's day, unix ms. */
  dayStart(account: string, nowMs: number): number;
  /** The name of a subject for people. */
  nameOf(subject: BindingCaps['subject']): string;
}

export async function evaluateAlerts(sources: AlertSources, nowMs: number): Promise<void> {
  const rules = await sources.alerts.readRules();
  for (const account of new Set(rules.map((rule) => rule.account))) {
    const own = rules.filter((rule) => rule.account === account);
    const found = [
      ...(await findBudgets(sources, own, account, nowMs)),
      ...(await findBalances(sources, own, account, nowMs)),
    ];
    await sources.alerts.enqueue(found);
  }
}

async function findBudgets(sources: AlertSources, own: readonly AlertRule[], account: string, nowMs: number) {
  const rules = own.filter(({ event }) => event === 'budget');
  if (rules.length === 0) return [];
  const groups = new Map<string, BindingCaps[]>();
  for (const binding of sources.budgetsOf(account, nowMs)) {
    const { subject, caps, windowStartMs } = binding;
    const place = `${subject.kind} ${subject.layer ?? ''} ${caps.budget?.window} ${windowStartMs}`;
    groups.set(place, [...(groups.get(place) ?? []), binding]);
  }
  const found: AlertDelivery[] = [];
  for (const group of groups.values()) {
    const spends = await sources.readSpends(group);
    for (const { subject, caps, windowStartMs } of group) {
      if (caps.budget === null) continue;
      const { window, amount } = caps.budget;
      const spent = spends.get(subject.id) ?? 0n;
      for (const rule of rules) {
        if (spent === 0n || spent * 100n < amount * rule.threshold) continue;
        const what = `${window} budget of ${subject.kind.replace('_', ' ')} ${sources.nameOf(subject)}`;
        const text = `The ${what} reached ${rule.threshold}%: ${formatNanoUsd(spent)} of ${formatNanoUsd(amount)} USD is spent.`;
        const event = [subject.kind, subject.id, subject.layer ?? '', window, windowStartMs, amount];
        found.push(createDelivery(rule, event, text, nowMs));
      }
    }
  }
  return found;
}

/** Once a day while the balance is low. */
async function findBalances(sources: AlertSources, own: readonly AlertRule[], account: string, nowMs: number) {
  const rules = own.filter(({ event }) => event === 'balance');
  if (rules.length === 0) return [];
  const balance = (await sources.readBalances(account)).find((one) => one.account === account);
  if (balance === undefined || balance.mode !== 'prepaid') return [];
  return rules
    .filter(({ threshold }) => balance.available < threshold)
    .map((rule) => {
      const text = `The balance of account ${account} is ${formatNanoUsd(balance.available)} USD, below ${formatNanoUsd(rule.threshold)} USD.`;
      return createDelivery(rule, ['balance', sources.dayStart(account, nowMs)], text, nowMs);
    });
}

/** A pending delivery. `event` identifies what happened, within the rule. */
function createDelivery(
  rule: AlertRule,
  event: readonly (string | number | bigint)[],
  text: string,
  nowMs: number,
): AlertDelivery {
  const digest = createHash('sha256').update(JSON.stringify([rule.id, ...event.map(String)]));
  return {
    id: `dlv_${digest.digest('hex').slice(0, 32)}`,
    rule: rule.id,
    text,
    createdAtMs: nowMs,
    status: 'pending',
    attempts: 0,
    nextAtMs: nowMs,
    error: null,
  };
}
