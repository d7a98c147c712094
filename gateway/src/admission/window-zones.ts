/**
 * Chooses the time zone of a budget window. When an account's time zone changes, a running window continues to its end
 * in the zone in which it began, so that no change of zone reopens a window whose budget is spent. Later windows use
 * the new zone; the first of them may begin before the last one ended, and counts the spend since its own start.
 */
import type { BudgetWindow } from '../store/ports/limits.ts';
import type { StoredAccount, WindowZones } from '../store/ports/policy.ts';
import { windowAt } from './window.ts';

const SORTS = ['day', 'week', 'month'] as const satisfies readonly BudgetWindow[];

type Zoned = Pick<StoredAccount, 'timeZone' | 'windowZones'>;

/** The IANA zone of the window that contains the moment, unix ms. */
export function zoneOfWindow({ timeZone, windowZones }: Zoned, window: BudgetWindow, atMs: number): string {
  const kept = window === 'total' ? undefined : windowZones?.[window];
  return kept !== undefined && atMs < kept.untilMs ? kept.zone : timeZone;
}

/** The account's zones after its time zone changes at a moment, unix ms. */
export function changeZone(account: Zoned, timeZone: string, atMs: number): Zoned {
  const windowZones: { -readonly [Sort in keyof WindowZones]: WindowZones[Sort] } = {};
  for (const sort of SORTS) {
    const zone = zoneOfWindow(account, sort, atMs);
    const { endMs } = windowAt(sort, zone, atMs);
    if (zone !== timeZone && endMs !== null) windowZones[sort] = { zone, untilMs: endMs };
  }
  return Object.keys(windowZones).length === 0 ? { timeZone } : { timeZone, windowZones };
}
