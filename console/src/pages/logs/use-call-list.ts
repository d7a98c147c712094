/** Fetches the list of calls: the first page, older ones on demand, and new ones while live. */
import { useEffect, useRef, useState } from 'react';
import { type ApiError, ask } from '../../lib/api.ts';
import { useReply } from '../../lib/queries.ts';
import { addNewer, addOlder, beginList, type CallList, type LogsReply, showWaiting } from './call-list.ts';
import type { LogQuery } from './log-filters.ts';

const TAIL_MS = 2_000;
/** Refetch interval of the range's histogram while live. */
const COUNT_MS = 4_000;
const TAIL_LIMIT = 200;

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

/** `holds`: new calls wait, so that nothing moves under the pointer. */
export function useCallList(account: string, filters: LogQuery, isLive: boolean, holds: boolean): CallListState {
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
    { everyMs: isLive ? (list?.newest === null ? TAIL_MS : COUNT_MS) : false },
  );
  const newest = useRef<string | null>(null);
  newest.current = list?.newest ?? null;
  const held = useRef(holds);
  held.current = holds;
  const [tailError, setTailError] = useState<ApiError | null>(null);

  useEffect(() => {
    const page = first.data;
    if (page === undefined) return;
    // The first page is refetched when the window gets the focus; the rest of the list is kept.
    setKept((known) => (known?.key === key && known.list.newest !== null ? known : { key, list: beginList(page) }));
  }, [first.data, key]);
  const isTailed = isLive && list !== null && list.newest !== null;
  // Not through the query cache: each reply moves `after`, so a new query would run at once instead of after the
  // interval.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the account and the filters
  useEffect(() => {
    if (!isTailed) return;
    const abort = new AbortController();
    const poll = async () => {
      try {
        const query = { ...filters, after: newest.current ?? '', limit: TAIL_LIMIT };
        const page = await ask('GET /accounts/{account}/logs', { path, query }, abort.signal);
        setTailError(null);
        setKept((known) => (known?.key === key ? { key, list: addNewer(known.list, page, held.current) } : known));
      } catch (cause) {
        if (!abort.signal.aborted) setTailError(cause as ApiError);
      }
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
