/** Formats caps and gauges as text, for tables and screen readers. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { exactUsd } from '../lib/money.ts';
import { shortNumber } from '../lib/numbers.ts';
import type { BudgetWindow, Caps } from './caps-draft.ts';

export type Gauge = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['gauges'][number];

/** `60 rpm · 100K tpm · 4 at once`; null when there is none. Excludes the budget, which has its own bar. */
export function rateWords(caps: Caps): string | null {
  const words = [
    caps.rpm === null ? null : `${shortNumber(caps.rpm)} rpm`,
    caps.tpm === null ? null : `${shortNumber(caps.tpm)} tpm`,
    caps.concurrency === null ? null : `${shortNumber(caps.concurrency)} at once`,
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(' · ');
}

/** `$1,000.00 each month`; null when there is none. */
export function budgetWords({ budget_usd, budget_window }: Caps): string | null {
  if (budget_usd === null) return null;
  const [whole = '', fraction = ''] = budget_usd.split('.');
  const amount = exactUsd(`${whole}${fraction.padEnd(9, '0')}`);
  return `${amount} ${budget_window === null || budget_window === 'total' ? 'in total' : `each ${budget_window}`}`;
}

const OF_WINDOW: Readonly<Record<BudgetWindow, string>> = {
  day: 'Budget of the day',
  week: 'Budget of the week',
  month: 'Budget of the month',
  total: 'Budget in total',
};

/** Name of what a gauge measures. */
export function gaugeName({ sort, window }: Pick<Gauge, 'sort' | 'window'>): string {
  switch (sort) {
    case 'rpm':
      return 'Requests a minute';
    case 'tpm':
      return 'Tokens a minute';
    case 'concurrency':
      return 'Calls at once';
    case 'budget':
      return window === null ? 'Budget' : OF_WINDOW[window];
  }
}

/** An amount in the gauge's unit. */
export function gaugeAmount(sort: Gauge['sort'], amount: string): string {
  return sort === 'budget' ? exactUsd(amount) : shortNumber(Number(amount));
}

const SUBJECTS: Readonly<Record<Gauge['subject']['kind'], string>> = {
  key: 'key',
  end_user: 'end user',
  workspace: 'workspace',
  account: 'account',
  model: 'model',
};

/** Names the subject of a rule: `workspace research`, or `this key` on the key's own page. */
export function whoseWords({ kind, id }: Gauge['subject'], ownKey: string | null): string {
  return kind === 'key' && id === ownKey ? 'this key' : `${subjectWord(kind)} ${id}`;
}

export function subjectWord(kind: Gauge['subject']['kind']): string {
  return SUBJECTS[kind];
}
