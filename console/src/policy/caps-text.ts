/** Formats caps and gauges as text, for tables and screen readers. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { exactUsd } from '../lib/money.ts';
import { shortNumber } from '../lib/format.ts';
import type { BudgetWindow, Caps } from './caps-draft.ts';

export type Gauge = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['gauges'][number];

/** `60 requests/min · 100K tokens/min · 4 concurrent`; null when there is none. Excludes the budget, which has its own bar. */
export function rateWords(caps: Caps): string | null {
  const words = [
    caps.rpm === null ? null : `${shortNumber(caps.rpm)} requests/min`,
    caps.tpm === null ? null : `${shortNumber(caps.tpm)} tokens/min`,
    caps.concurrency === null ? null : `${shortNumber(caps.concurrency)} concurrent`,
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(' · ');
}

/** `$1,000.00 per month`; null when there is none. */
export function budgetWords({ budget_usd, budget_window }: Caps): string | null {
  if (budget_usd === null) return null;
  const [whole = '', fraction = ''] = budget_usd.split('.');
  const amount = exactUsd(`${whole}${fraction.padEnd(9, '0')}`);
  return `${amount} ${budget_window === null || budget_window === 'total' ? 'total' : `per ${budget_window}`}`;
}

const BUDGET_NAMES: Readonly<Record<BudgetWindow, string>> = {
  day: 'Daily budget',
  week: 'Weekly budget',
  month: 'Monthly budget',
  total: 'Total budget',
};

/** Name of what a gauge measures. */
export function gaugeName({ sort, window }: Pick<Gauge, 'sort' | 'window'>): string {
  switch (sort) {
    case 'rpm':
      return 'Requests/min';
    case 'tpm':
      return 'Tokens/min';
    case 'concurrency':
      return 'Concurrent requests';
    case 'budget':
      return window === null ? 'Budget' : BUDGET_NAMES[window];
  }
}

/** An amount in the gauge's unit. */
export function gaugeAmount(sort: Gauge['sort'], amount: string): string {
  return sort === 'budget' ? exactUsd(amount) : shortNumber(Number(amount));
}

const SUBJECTS: Readonly<Record<Gauge['subject']['kind'], string>> = {
  key: 'API key',
  end_user: 'end user',
  workspace: 'workspace',
  account: 'account',
  model: 'model',
};

/** Names the subject of a rule: `workspace research`, or `this API key` on the key's own page. */
export function subjectName({ kind, id }: Gauge['subject'], ownKey: string | null): string {
  return kind === 'key' && id === ownKey ? 'this API key' : `${subjectWord(kind)} ${id}`;
}

export function subjectWord(kind: Gauge['subject']['kind']): string {
  return SUBJECTS[kind];
}
