/** Owns how replies are kept and asked for again: one cache, keyed by route, path and query. */
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { ConsoleRoute, Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { ApiError, type Ask, ask } from './api.ts';

/** Asked again when the window gets the focus; a refusal is not tried again, an unreachable gateway twice. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignOut }),
  mutationCache: new MutationCache({ onError: noticeSignOut }),
  defaultOptions: {
    // What an act was given may be a password or a credential: it is forgotten with the form that sent it.
    mutations: { gcTime: 0 },
    queries: {
      staleTime: 5_000,
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < 2,
    },
  },
});

/** A session that ended elsewhere: who is signed in is asked again, so that the way in is shown over the page. */
function noticeSignOut(error: Error): void {
  if (!(error instanceof ApiError) || error.code !== 'signed_out') return;
  void queryClient.invalidateQueries({ queryKey: ['GET /session'] });
}

/** Under which a reply is kept. */
export function replyKey<Route extends ConsoleRoute>(route: Route, given: Ask<Route>): QueryKey {
  return [route, given.path ?? null, given.query ?? null];
}

export interface QueryWishes {
  /** Ask again every so many ms. */
  readonly everyMs?: number | false;
  /** False: not yet. */
  readonly enabled?: boolean;
  /** What was shown stays until the new answer is there. */
  readonly keepsPrevious?: boolean;
}

/** A reading route's reply, kept. */
export function useReply<Route extends ConsoleRoute & `GET ${string}`>(
  route: Route,
  given: Ask<Route>,
  { everyMs = false, enabled = true, keepsPrevious = false }: QueryWishes = {},
): UseQueryResult<Reply<Route>, ApiError> {
  return useQuery<Reply<Route>, ApiError>({
    queryKey: replyKey(route, given),
    queryFn: ({ signal }) => ask(route, given, signal),
    refetchInterval: everyMs,
    enabled,
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

/** An act: afterwards whatever begins with one of the routes in `touches` is asked for again. */
export function useAct<Route extends ConsoleRoute>(route: Route, touches: readonly ConsoleRoute[] = []) {
  const client = useQueryClient();
  return useMutation<Reply<Route>, ApiError, Ask<Route>>({
    mutationFn: (given) => ask(route, given),
    onSuccess: () => Promise.all(touches.map((touched) => client.invalidateQueries({ queryKey: [touched] }))),
  });
}
