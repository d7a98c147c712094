/** Owns what a page knows of its own address, and how it leads to another. The pages themselves are `router.tsx`'s. */
import { createContext, useContext, useEffect } from 'react';
import { fillPath, type Search, type SearchWish, searchText } from './address.ts';
import { holdPage } from './history.ts';

/** Where to go. */
export interface Goal {
  /** A path, or a pattern of the router. Left out: the same page. */
  readonly to?: string;
  /** For the pattern's `$name`s. */
  readonly names?: SearchWish;
  /** All of it: what is not named is gone, but for the account. */
  readonly search?: SearchWish;
}

export interface Route {
  readonly pathname: string;
  readonly names: Search;
  readonly search: Search;
  /** Goes there; `replace`: so that Back does not come here again. */
  navigate(goal: Goal & { readonly replace?: boolean }): void;
  /** Closes what has an address of its own over this page: goes back to the goal where one came from there. */
  returnTo(goal: Goal): void;
  /** Fetches the page that an address means, so that it is there when it is gone to. */
  prefetch(href: string): void;
}

export const RouteContext = createContext<Route | null>(null);

function useRoute(): Route {
  const route = useContext(RouteContext);
  if (route === null) throw new Error('there is no router around this part of the page');
  return route;
}

/** The address of a goal. The account that the page is about goes with it. */
export function hrefOf({ to, names = {}, search = {} }: Goal, from: Pick<Route, 'pathname' | 'search'>): string {
  const path = to === undefined ? from.pathname : fillPath(to, names);
  return path + searchText({ account: from.search.account, ...search });
}

export function usePathname(): string {
  return useRoute().pathname;
}

/** What the path has for each `$name`. */
export function usePathNames(): Search {
  return useRoute().names;
}

/** What stands after the `?`. */
export function useSearch(): Search {
  return useRoute().search;
}

export function useNavigate(): Route['navigate'] {
  return useRoute().navigate;
}

export function useReturnTo(): Route['returnTo'] {
  return useRoute().returnTo;
}

/** For a link: its address, going there, and fetching what is there. */
export function useGoal(goal: Goal): { readonly href: string; go(): void; prefetch(): void } {
  const route = useRoute();
  const href = hrefOf(goal, route);
  return { href, go: () => route.navigate(goal), prefetch: () => route.prefetch(href) };
}

/** As long as it is on the page, nothing leaves the page unasked. */
export function useHeldPage(): void {
  useEffect(holdPage, []);
}
