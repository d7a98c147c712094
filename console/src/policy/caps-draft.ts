/** Converts the caps of a rule between text fields and values. The gateway defines what they mean. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { withoutSeparators } from '../lib/money.ts';
import { changesOf, isEmpty, type Read } from './read.ts';

export type Caps = Reply<'GET /accounts/{account}/workspaces'>['workspaces'][number]['caps'];
export type BudgetWindow = NonNullable<Caps['budget_window']>;

/** Text values; empty: no cap. */
export interface CapsDraft {
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
  readonly budget: string;
  readonly window: BudgetWindow;
}

export const WINDOWS: readonly (readonly [BudgetWindow, string])[] = [
  ['day', 'Daily'],
  ['week', 'Weekly'],
  ['month', 'Monthly'],
  ['total', 'Total'],
];

export const CAPS_MEMBERS = ['caps.rpm', 'caps.tpm', 'caps.concurrency', 'caps.budget_usd'] as const;

const CAP_MAX = 1_000_000_000;

export function draftCaps(caps: Caps): CapsDraft {
  return {
    rpm: caps.rpm?.toString() ?? '',
    tpm: caps.tpm?.toString() ?? '',
    concurrency: caps.concurrency?.toString() ?? '',
    budget: caps.budget_usd ?? '',
    window: caps.budget_window ?? 'month',
  };
}

export function readCaps(draft: CapsDraft): Read<Caps> {
  const faults: Record<string, string> = {};
  const whole = (member: string, text: string): number | null => {
    const digits = withoutSeparators(text);
    if (digits === '') return null;
    const count = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
    if (count >= 1 && count <= CAP_MAX) return count;
    faults[member] = `“${text.trim()}” isn’t a whole number from 1 to 1,000,000,000. Leave blank for no limit.`;
    return null;
  };
  const budget = withoutSeparators(draft.budget);
  if (budget !== '' && !/^\d{1,9}(\.\d{1,9})?$/.test(budget))
    faults['caps.budget_usd'] = `“${draft.budget.trim()}” isn’t an amount in US dollars, such as 25 or 12.50.`;
  const caps: Caps = {
    rpm: whole('caps.rpm', draft.rpm),
    tpm: whole('caps.tpm', draft.tpm),
    concurrency: whole('caps.concurrency', draft.concurrency),
    budget_usd: budget === '' ? null : budget,
    budget_window: budget === '' ? null : draft.window,
  };
  return Object.keys(faults).length > 0 ? { faults } : { value: caps };
}

/**
 * The member `caps` of a change, with changed caps only; omitted when none changed. A budget is sent with its window.
 */
export function changedCaps(opened: Caps, filled: Caps): { readonly caps?: Partial<Caps> } {
  const changed = changesOf(opened, filled);
  if (isEmpty(changed)) return {};
  const { budget_usd, budget_window } = filled;
  const hasBudget = 'budget_usd' in changed || 'budget_window' in changed;
  return { caps: { ...changed, ...(hasBudget ? { budget_usd, budget_window } : {}) } };
}
