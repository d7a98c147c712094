/**
 * Chooses the time zone of a budget window. A window that runs when an account's time zone is changed goes on to its end in
 * the zone in which it began: so no change of the zone reopens a window whose budget is spent. Later windows are in the new
 * zone; the first of them may begin before the last one ended, and counts what was spent since then.
 */
import type { BudgetWindow } from '../store/ports/limits.ts';
import type { StoredAccount, WindowZones } from '../store/ports/policy.ts';
import { windowAt } from './window.ts';

const SORTS = ['day', 'week', 'month'] as const satisfies readonly BudgetWindow[];

type Zoned = Pick<StoredAccount, 'timeZone' | 'windowZones'>;

/** The IANA name of the zone of the window that holds the moment, unix ms. */
export function zoneOfWindow({ timeZone, windowZones }: Zoned, window: BudgetWindow, atMs: number): string {
  const kept = window === 'total' ? undefined : windowZones?.[window];
  return kept !== undefined && atMs < kept.untilMs ? kept.zone : timeZone;
}

/** What the account's zones become where its time zone is changed at a moment, unix ms. */
export function changeZone(account: Zoned, timeZone: string, atMs: number): Zoned {
  const windowZones: { -readonly [Sort in keyof WindowZones]: WindowZones[Sort] } = {};
  for (const sort of SORTS) {
    const zone = zoneOfWindow(account, sort, atMs);
    const { endMs } = windowAt(sort, zone, atMs);
    if (zone !== timeZone && endMs !== null) windowZones[sort] = { zone, untilMs: endMs };
  }
  return Object.keys(windowZones).length === 0 ? { timeZone } : { timeZone, windowZones };
}
