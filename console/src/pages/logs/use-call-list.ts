/**
 * Fetches the list of requests: the first page, older ones on demand, and new ones while live. New requests wait while
 * the list must not move.
 */
import { useEffect, useEffectEvent, useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { type ApiError, ask } from '../../lib/api.ts';
import { useReply } from '../../lib/queries.ts';
import type { ListQuery } from './log-filters.ts';

const TAIL_MS = 2_000;
/** Refetch interval of the range's histogram while live. */
const COUNT_MS = 4_000;
const TAIL_LIMIT = 200;
/** A shorter list fetches more pages by itself, because the server ends a page early when reading takes long. */
const FIRST_CALLS = 50;
const FIRST_PAGES_MAX = 5;

interface CallListState {
  readonly list: CallList | null;
  readonly histogram: LogsReply['histogram'];
  readonly filterLabels: LogsReply['filter_labels'];
  readonly error: ApiError | null;
  readonly isFetchingOlder: boolean;
  readonly retry: () => void;
  readonly fetchOlder: () => void;
  readonly showNew: () => void;
}

interface ListMode {
  readonly isLive: boolean;
  /** New calls wait, so that nothing moves under the pointer. */
  readonly holds: boolean;
  /** False: the list is not visible yet, and not fetched. */
  readonly isShown: boolean;
}

export function useCallList(account: string, filters: ListQuery, { isLive, holds, isShown }: ListMode): CallListState {
  const key = JSON.stringify([account, filters]);
  const [kept, setKept] = useState<{ readonly key: string; readonly list: CallList } | null>(null);
  const [older, setOlder] = useState<{ readonly isFetching: boolean; readonly error: ApiError | null }>({
    isFetching: false,
    error: null,
  });
  const list = kept?.key === key ? kept.list : null;
  const path = { account };
  // While live, this also refreshes the histogram and counters; new calls come from a separate, cheaper request.
  const first = useReply(
    'GET /accounts/{account}/logs',
    { path, query: filters },
    {
      everyMs: isLive && !isSearch(list) ? (list?.newest === null ? TAIL_MS : COUNT_MS) : false,
      enabled: isShown,
    },
  );
  const [tailError, setTailError] = useState<ApiError | null>(null);

  useEffect(() => {
    const page = first.data;
    if (page === undefined) return;
    // The first page is refetched when the window gets the focus; the rest of the list is kept.
    setKept((known) => (known?.key === key && known.list.newest !== null ? known : { key, list: startList(page) }));
  }, [first.data, key]);
  const isTailed = isLive && list !== null && list.newest !== null;
  const addPage = useEffectEvent((page: LogsReply, of: string) =>
    setKept((known) => (known?.key === of ? { key: of, list: addNewer(known.list, page, holds) } : known)),
  );
  const fetchNewer = useEffectEvent(async (of: string, signal: AbortSignal) => {
    try {
      const query = { ...filters, after: list?.newest ?? '', limit: TAIL_LIMIT };
      const page = await ask('GET /accounts/{account}/logs', { path, query }, signal);
      setTailError(null);
      addPage(page, of);
    } catch (cause) {
      if (!signal.aborted) setTailError(cause as ApiError);
    }
  });
  // Not through the query cache: each reply moves `after`, so a new query would run at once instead of after the
  // interval.
  useEffect(() => {
    if (!isTailed) return;
    const abort = new AbortController();
    const poll = async () => {
      await fetchNewer(key, abort.signal);
      if (!abort.signal.aborted) timer = setTimeout(poll, TAIL_MS);
    };
    let timer = setTimeout(poll, TAIL_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [isTailed, key]);
  useEffect(() => {
    if (!holds) setKept((known) => (known === null ? known : { ...known, list: showWaiting(known.list) }));
  }, [holds]);

  async function fetchOlder(): Promise<void> {
    const before = list?.next ?? null;
    if (before === null || older.isFetching) return;
    setOlder({ isFetching: true, error: null });
    try {
      const page = await ask('GET /accounts/{account}/logs', { path, query: { ...filters, before } });
      setKept((known) => (known?.key === key ? { key, list: addOlder(known.list, page) } : known));
      setOlder({ isFetching: false, error: null });
    } catch (cause) {
      setOlder({ isFetching: false, error: cause as ApiError });
    }
  }

  // A search for text continues only on demand: it takes seconds.
  const isShort =
    list !== null &&
    !isSearch(list) &&
    list.next !== null &&
    list.calls.length < FIRST_CALLS &&
    list.pages <= FIRST_PAGES_MAX;
  // After these pages a search continues only on demand: it may find little in a long time.
  const continues = isShort && !older.isFetching && older.error === null;
  // Each page that leaves the list short requests the next one.
  const shortPages = continues ? list.pages : 0;
  const fetchNext = useEffectEvent(() => void fetchOlder());
  useEffect(() => {
    if (shortPages > 0) fetchNext();
  }, [shortPages]);

  return {
    list,
    histogram: first.data?.histogram ?? null,
    filterLabels: first.data?.filter_labels ?? [],
    error: first.error ?? (isTailed ? tailError : null) ?? older.error,
    isFetchingOlder: older.isFetching,
    retry: () => void first.refetch(),
    fetchOlder: () => void fetchOlder(),
    showNew: () => setKept((known) => (known === null ? known : { ...known, list: showWaiting(known.list) })),
  };
}

export type LogsReply = Reply<'GET /accounts/{account}/logs'>;
export type CallView = LogsReply['calls'][number];

/** Counts of the live tail since the list began. */
interface Arrived {
  readonly requests: number;
  /** Failed requests, without those that the client canceled. */
  readonly errors: number;
  readonly costNanoUsd: bigint;
}

export interface CallList {
  /** Newest first. */
  readonly calls: readonly CallView[];
  /** The first page and those of older calls. */
  readonly pages: number;
  /** Newer than `calls`, not shown yet. */
  readonly waiting: readonly CallView[];
  readonly arrived: Arrived;
  /** Cursor for older calls; null at the end of the list. */
  readonly next: string | null;
  /** Cursor for newer calls; null when there was no call yet. */
  readonly newest: string | null;
  /** The oldest calls were dropped because the list grew too long. */
  readonly isCut: boolean;
  /** Requests whose stored bodies were searched for text; null: the query has none. */
  readonly searched: number | null;
}

const isSearch = (list: CallList | null) => list !== null && list.searched !== null;

/**
 * Maximum length of a list that grows at its top. Beyond it, the oldest calls are dropped and the list cannot be
 * continued: `isCut`.
 */
const LIVE_MAX = 2_000;

export function startList(page: LogsReply): CallList {
  const { calls, next, newest, searched } = page;
  const arrived = { requests: 0, errors: 0, costNanoUsd: 0n };
  return { calls, pages: 1, waiting: [], arrived, next, newest, isCut: false, searched };
}

/** Appends the next page of older calls. */
export function addOlder(list: CallList, page: LogsReply): CallList {
  const calls = [...list.calls, ...newTo(list, page.calls)];
  const searched = page.searched === null ? list.searched : (list.searched ?? 0) + page.searched;
  return { ...list, calls, pages: list.pages + 1, next: page.next, searched };
}

/** The error of a request that its client left. */
const CANCELED = 'client_left';

/** Adds a page of calls newer than `newest`. `holds`: they wait, so that the shown rows do not move. */
export function addNewer(list: CallList, page: LogsReply, holds: boolean): CallList {
  const fresh = newTo(list, page.calls);
  const arrived = fresh.reduce(countCall, list.arrived);
  const next = { ...list, waiting: [...fresh, ...list.waiting], arrived, newest: page.newest ?? list.newest };
  return holds ? next : showWaiting(next);
}

function countCall({ requests, errors, costNanoUsd }: Arrived, call: CallView): Arrived {
  const isError = call.error !== null ? call.error !== CANCELED : call.status >= 400;
  return {
    requests: requests + 1,
    errors: errors + (isError ? 1 : 0),
    costNanoUsd: costNanoUsd + BigInt(call.cost_nano_usd ?? 0),
  };
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
