/** Loads lists page by page: each reply names the cursor of the next page. */
import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query';
import type { ConsoleRoute, Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { type ApiError, type Ask, ask } from './api.ts';

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
