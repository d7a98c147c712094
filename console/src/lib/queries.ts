/** Caches and refetches replies, also page by page: one cache, keyed by route, path, query and body. */
import {
  type InfiniteData,
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import type { ConsoleRoute, Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { ApiError, type Ask, ask } from './api.ts';

/** Refetches when the window gets the focus. An error reply is not retried; an unreachable gateway is retried twice. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignOut }),
  mutationCache: new MutationCache({ onError: noticeSignOut }),
  defaultOptions: {
    // The input of a mutation may be a password or a credential: it is dropped with the form that sent it. Nothing waits
    // for a network: a change that was canceled must not be sent later, and the gateway may run on this computer.
    mutations: { gcTime: 0, networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < 2,
    },
  },
});

/** The session ended elsewhere: refetches it, so that the sign-in page covers the current one. */
function noticeSignOut(error: Error): void {
  if (!(error instanceof ApiError) || error.code !== 'signed_out') return;
  void queryClient.invalidateQueries({ queryKey: ['GET /session'] });
}

/** Cache key of a reply. */
export function replyKey<Route extends ConsoleRoute>(route: Route, given: Ask<Route>): QueryKey {
  return [route, given.path ?? null, given.query ?? null, given.body ?? null];
}

export interface QueryOptions {
  /** Refetch interval in ms. */
  readonly everyMs?: number | false;
  /** False: do not fetch yet. */
  readonly enabled?: boolean;
  /** Keep showing the previous reply until the new one arrives. */
  readonly keepsPrevious?: boolean;
}

/** Routes that only read. The preview needs a body, because a request may be as long as a conversation. */
type ReadingRoute = ConsoleRoute & (`GET ${string}` | 'POST /accounts/{account}/routes/explain');

/** Returns the cached reply of a route that only reads. */
export function useReply<Route extends ReadingRoute>(
  route: Route,
  given: Ask<Route>,
  { everyMs = false, enabled = true, keepsPrevious = false }: QueryOptions = {},
): UseQueryResult<Reply<Route>, ApiError> {
  return useQuery<Reply<Route>, ApiError>({
    queryKey: replyKey(route, given),
    queryFn: ({ signal }) => ask(route, given, signal),
    refetchInterval: everyMs,
    enabled,
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

/** The cached reply of a route that only reads, else the one that is under way or a new one. */
export function knownReply<Route extends ReadingRoute>(route: Route, given: Ask<Route>): Promise<Reply<Route>> {
  return queryClient.ensureQueryData<Reply<Route>, ApiError>({
    queryKey: replyKey(route, given),
    queryFn: ({ signal }) => ask(route, given, signal),
  });
}

/** Longer than a double-click takes. */
const DOUBLE_MS = 700;

/**
 * A mutation. Afterwards, every reply whose route is in `touches` is refetched. The second `mutate` of a double-click
 * is ignored: it may come before the button is drawn busy.
 */
export function useAction<Route extends ConsoleRoute>(route: Route, touches: readonly ConsoleRoute[] = []) {
  const client = useQueryClient();
  const begun = useRef<{ readonly path: string; readonly atMs: number } | null>(null);
  const refetch = () => Promise.all(touches.map((touched) => client.invalidateQueries({ queryKey: [touched] })));
  const { mutate, ...rest } = useMutation<Reply<Route>, ApiError, Ask<Route>>({
    mutationFn: (given) => ask(route, given),
    onSuccess: refetch,
    onError: ({ status }) => {
      // It may have been carried out although its reply was lost.
      if (status === 0 || status >= 500) void refetch();
    },
    onSettled: () => {
      // Once the result is drawn.
      setTimeout(() => {
        begun.current = null;
      });
    },
  });
  const mutateOnce = useCallback<typeof mutate>(
    (...given) => {
      // Not the whole of it: a body may have a time that was just now.
      const [path, atMs] = [JSON.stringify(given[0]?.path ?? null), performance.now()];
      if (begun.current?.path === path && atMs - begun.current.atMs < DOUBLE_MS) return;
      begun.current = { path, atMs };
      mutate(...given);
    },
    [mutate],
  );
  return { ...rest, mutate: mutateOnce };
}

type Paged = {
  [Route in ConsoleRoute & `GET ${string}`]: Reply<Route> extends { readonly next: string | null } ? Route : never;
}[ConsoleRoute & `GET ${string}`];

/**
 * The pages read so far. `askAt` builds the request for a cursor; undefined: the first page. `given` identifies the
 * list; the previous list stays until the next one arrives.
 */
export function usePages<Route extends Paged>(
  route: Route,
  given: unknown,
  askAt: (before: string | undefined) => Ask<Route>,
): UseInfiniteQueryResult<InfiniteData<Reply<Route>>, ApiError> {
  return useInfiniteQuery<
    Reply<Route>,
    ApiError,
    InfiniteData<Reply<Route>>,
    readonly [Route, string, unknown],
    string | undefined
  >({
    queryKey: [route, 'pages', given],
    queryFn: ({ pageParam, signal }) => ask(route, askAt(pageParam), signal),
    placeholderData: keepPreviousData,
    initialPageParam: undefined,
    getNextPageParam: (last) => (last as { readonly next: string | null }).next ?? undefined,
  });
}
