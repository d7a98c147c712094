/** Formats caps and gauges as text and as CSV columns, and reads the two layers of limits. The lower cap applies. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import type { CsvColumns } from '../csv/csv-table.ts';
import { shortNumber } from '../lib/format.ts';
import { exactUsd } from '../lib/money.ts';
import type { BudgetWindow, Caps } from './caps-draft.ts';

export type Gauge = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['gauges'][number];

/** `60 RPM · 100K TPM · 4 concurrent`; null without such caps. Excludes the budget, which has its own bar. */
export function ratesText(caps: Caps): string | null {
  const words = [
    caps.rpm === null ? null : `${shortNumber(caps.rpm)} RPM`,
    caps.tpm === null ? null : `${shortNumber(caps.tpm)} TPM`,
    caps.concurrency === null ? null : `${shortNumber(caps.concurrency)} concurrent`,
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(' · ');
}

/** `$1,000.00 per month`; null without a budget. */
export function budgetText({ budget_usd, budget_window }: Caps): string | null {
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

/**
 * Names the subject of a rule: `workspace research`, or `this API key` on the key's own page. `name`: what people call
 * the subject.
 */
export function subjectName({ kind, id }: Gauge['subject'], ownKey: string | null, name = id): string {
  return kind === 'key' && id === ownKey ? 'this API key' : `${subjectKind(kind)} ${name}`;
}

export function subjectKind(kind: Gauge['subject']['kind']): string {
  return SUBJECTS[kind];
}

export type Layered = Pick<Reply<'GET /accounts/{account}/limits'>['nodes'][number], 'layer' | 'caps' | 'other_caps'>;

const NO_CAPS: Caps = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

/** The caps of each layer, including those that the reader may not change. */
export function capsByLayer({ layer, caps, other_caps }: Layered): { readonly operator: Caps; readonly account: Caps } {
  const other = other_caps ?? NO_CAPS;
  return layer === 'operator' ? { operator: caps, account: other } : { operator: other, account: caps };
}

/** `Set by the operator: $25.00 per month · 60 RPM`; null when the layer that the reader cannot change has no cap. */
export function otherLayerText({ layer, other_caps }: Layered): string | null {
  const words = other_caps === null ? '' : capsText(other_caps);
  if (words === '') return null;
  return `Set by the ${layer === 'operator' ? 'account' : 'operator'}: ${words}`;
}

/** Both layers in short form, with who set each when there are two; empty: no limit. */
export function layeredText(layered: Layered): string {
  const own = capsText(layered.caps);
  const other = otherLayerText(layered);
  return [own, other].filter((words) => words !== null && words !== '').join(' · ');
}

function capsText(caps: Caps): string {
  return [budgetText(caps), ratesText(caps)].filter((words) => words !== null).join(' · ');
}

/** The rates and concurrency that apply: the lower of both layers. */
export function lowerRates({ caps, other_caps }: Layered): Caps {
  const lower = (cap: 'rpm' | 'tpm' | 'concurrency') =>
    Math.min(caps[cap] ?? Number.POSITIVE_INFINITY, other_caps?.[cap] ?? Number.POSITIVE_INFINITY);
  const read = (cap: 'rpm' | 'tpm' | 'concurrency') => (Number.isFinite(lower(cap)) ? lower(cap) : null);
  return { ...NO_CAPS, rpm: read('rpm'), tpm: read('tpm'), concurrency: read('concurrency') };
}

/** The gauge of a sort with the least left; undefined without a gauge of this sort. */
export function tightestGauge(gauges: readonly Gauge[], sort: Gauge['sort']): Gauge | undefined {
  const left = ({ limit, used, held }: Gauge) => BigInt(limit) - BigInt(used) - BigInt(held);
  return gauges
    .filter((gauge) => gauge.sort === sort)
    .reduce<Gauge | undefined>(
      (tightest, gauge) => (tightest === undefined || left(gauge) < left(tightest) ? gauge : tightest),
      undefined,
    );
}

const CAPS = ['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window'] as const;

/** The operator's caps under their plain names, the account's own as `own_…`, regardless of who saves the file. */
export function capsColumns<Row extends Layered>(): CsvColumns<Row> {
  return [
    ...CAPS.map((cap): CsvColumns<Row>[number] => [cap, (row) => capsByLayer(row).operator[cap]]),
    ...CAPS.map((cap): CsvColumns<Row>[number] => [`own_${cap}`, (row) => capsByLayer(row).account[cap]]),
  ];
}
