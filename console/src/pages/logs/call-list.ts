/**
 * Owns the list of calls on the logs page: older ones under it, newer ones above it, each call once. What came while the list
 * must not move waits. Asks nothing.
 */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

export type LogsReply = Reply<'GET /accounts/{account}/logs'>;
export type CallView = LogsReply['calls'][number];

export interface CallList {
  /** The newest first. */
  readonly calls: readonly CallView[];
  /** Newer than `calls`, not shown yet. */
  readonly waiting: readonly CallView[];
  /** Where older ones go on; null: there are none. */
  readonly next: string | null;
  /** Where newer ones begin; null: there was no call yet. */
  readonly newest: string | null;
  /** Its end was left out, since it grew too long. */
  readonly isCut: boolean;
}

/** How many calls a list that grows at its top holds. Beyond it the oldest go, and it cannot be continued: `isCut`. */
const LIVE_MAX = 2_000;

export function beginList(page: LogsReply): CallList {
  return { calls: page.calls, waiting: [], next: page.next, newest: page.newest, isCut: false };
}

/** A page that goes on where the list ended. */
export function addOlder(list: CallList, page: LogsReply): CallList {
  return { ...list, calls: [...list.calls, ...newTo(list, page.calls)], next: page.next };
}

/** A page of what came after `newest`. `holds`: it waits instead of moving what is shown. */
export function addNewer(list: CallList, page: LogsReply, holds: boolean): CallList {
  const waiting = [...newTo(list, page.calls), ...list.waiting];
  const next = { ...list, waiting, newest: page.newest ?? list.newest };
  return holds ? next : showWaiting(next);
}

export function showWaiting(list: CallList): CallList {
  if (list.waiting.length === 0) return list;
  const calls = [...list.waiting, ...list.calls];
  if (calls.length <= LIVE_MAX) return { ...list, calls, waiting: [] };
  return { ...list, calls: calls.slice(0, LIVE_MAX), waiting: [], next: null, isCut: true };
}

function newTo(list: CallList, calls: readonly CallView[]): readonly CallView[] {
  const known = new Set([...list.waiting, ...list.calls].map(({ request_id }) => request_id));
  return calls.filter(({ request_id }) => !known.has(request_id));
}
