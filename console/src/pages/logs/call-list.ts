/**
 * Manages the list of calls on the logs page: appends older calls, prepends newer ones, and removes duplicates. New
 * calls wait while the list must not move. Sends no requests.
 */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

export type LogsReply = Reply<'GET /accounts/{account}/logs'>;
export type CallView = LogsReply['calls'][number];

export interface CallList {
  /** Newest first. */
  readonly calls: readonly CallView[];
  /** Newer than `calls`, not shown yet. */
  readonly waiting: readonly CallView[];
  /** Cursor for older calls; null when there are none. */
  readonly next: string | null;
  /** Cursor for newer calls; null when there was no call yet. */
  readonly newest: string | null;
  /** The oldest calls were dropped because the list grew too long. */
  readonly isCut: boolean;
}

/**
 * Maximum length of a list that grows at its top. Beyond it, the oldest calls are dropped and the list cannot be
 * continued: `isCut`.
 */
const LIVE_MAX = 2_000;

export function beginList(page: LogsReply): CallList {
  return { calls: page.calls, waiting: [], next: page.next, newest: page.newest, isCut: false };
}

/** Appends the next page of older calls. */
export function addOlder(list: CallList, page: LogsReply): CallList {
  return { ...list, calls: [...list.calls, ...newTo(list, page.calls)], next: page.next };
}

/** Adds a page of calls newer than `newest`. `holds`: they wait, so that the shown rows do not move. */
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
