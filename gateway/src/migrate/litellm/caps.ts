/** Converts LiteLLM's limits, budgets and spend to the arguments of the import. */
import { formatNanoUsd } from '../../billing/money.ts';
import type { Notes } from './notes.ts';
import { type Row, textOf, timeOf, usdOf, wholeOf } from './table-row.ts';

export type Window = 'day' | 'week' | 'month' | 'total';

/** As the command takes them. */
export interface PlannedCaps {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly budget_usd?: string;
  readonly budget_window?: Window;
}

export interface PlannedSpend {
  readonly spent_usd: string | null;
  readonly spent_window: Window;
}

const DAY_S = 86_400;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: DAY_S, w: 7 * DAY_S, mo: 30 * DAY_S };
const DURATION = /^(\d{1,9})(mo|[smhdw])$/;

/**
 * The window of a duration, and what is different about it; null: nothing. LiteLLM resets `1d` at midnight, `7d` on
 * Mondays, and `30d` and `1mo` on the first of the month, as here.
 * https://docs.litellm.ai/docs/proxy/budget_reset_and_tz (read 2026-11-23)
 */
export function windowOf(duration: string | null): { readonly window: Window; readonly change: string | null } {
  if (duration === null) return { window: 'total', change: null };
  const [, count, unit = ''] = DURATION.exec(duration) ?? [];
  const seconds = Number(count) * (UNIT_S[unit] ?? Number.NaN);
  if (seconds === DAY_S) return { window: 'day', change: null };
  if (seconds === 7 * DAY_S) return { window: 'week', change: null };
  if (seconds === 30 * DAY_S) return { window: 'month', change: null };
  if (Number.isNaN(seconds)) return { window: 'total', change: 'not a duration: the budget does not reset' };
  if (seconds < DAY_S) return { window: 'day', change: 'the budget is for a day here, which is stricter' };
  if (seconds < 7 * DAY_S) return { window: 'week', change: 'the budget is for a week here, which is stricter' };
  if (seconds < 30 * DAY_S) return { window: 'month', change: 'the budget is for a month here, which is stricter' };
  return {
    window: 'total',
    change: 'the budget does not reset here, which is stricter; raise it when its time is over',
  };
}

/** The limits of an object: its own columns, else those of its row in the budget table. Also returns what it has spent. */
export function planCaps(
  row: Row,
  budget: Row | null,
  { name, nowMs, notes }: { readonly name: string; readonly nowMs: number; readonly notes: Notes },
): { readonly caps: PlannedCaps; readonly spend: PlannedSpend; readonly isBlocked: boolean } {
  const either = <Value>(read: (row: Row, column: string) => Value | null, column: string): Value | null =>
    read(row, column) ?? (budget === null ? null : read(budget, column));
  const duration = either(textOf, 'budget_duration');
  const { window, change } = windowOf(duration);
  const amount = either(usdOf, 'max_budget');
  if (change !== null && amount !== null) notes.add('changed', `budget_duration ${duration}`, change, name);
  const counts = { rpm: 'rpm_limit', tpm: 'tpm_limit', concurrency: 'max_parallel_requests' } as const;
  const found = Object.entries(counts).map(([cap, column]) => [cap, either(wholeOf, column)] as const);
  const isBlocked = found.some(([, value]) => value === 0);
  const caps: PlannedCaps = {
    ...Object.fromEntries(found.filter(([, value]) => value !== null && value > 0)),
    ...(amount === null ? {} : { budget_usd: formatNanoUsd(amount), budget_window: window }),
  };
  const resetMs = either(timeOf, 'budget_reset_at');
  const isOver = window !== 'total' && resetMs !== null && resetMs <= nowMs;
  const spent = usdOf(row, 'spend') ?? 0n;
  if (isOver && spent > 0n) {
    notes.add('changed', 'spend', 'the budget has been reset since the export; its spend no longer counts', name);
  }
  return { caps, spend: { spent_usd: isOver ? null : formatNanoUsd(spent), spent_window: window }, isBlocked };
}
