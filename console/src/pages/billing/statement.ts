/** Lists the months of statements, and groups a statement's lines by workspace. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sumNano } from '../../lib/money.ts';

export type Statement = Reply<'GET /accounts/{account}/statement'>;
export type Line = Statement['lines'][number];

/** From the last month to the first: `2026-10`, `2026-09`. */
export function monthsBetween({ first, last }: Statement['months']): readonly string[] {
  const months: string[] = [];
  for (let month = last; month >= first; month = monthBefore(month)) months.push(month);
  return months;
}

function monthBefore(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return number === 1 ? `${year - 1}-12` : `${year}-${String(number - 1).padStart(2, '0')}`;
}

const MONTH = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `2026-10` → `October 2026`. */
export function monthName(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}

export interface WorkspaceLines {
  readonly workspace: string | null;
  readonly lines: readonly Line[];
  readonly costNanoUsd: string;
}

/** The lines come by workspace. */
export function byWorkspace(lines: readonly Line[]): readonly WorkspaceLines[] {
  const groups = Map.groupBy(lines, ({ workspace }) => workspace);
  return [...groups].map(([workspace, own]) => ({
    workspace,
    lines: own,
    costNanoUsd: sumNano(own.map(({ cost_nano_usd }) => cost_nano_usd)),
  }));
}
