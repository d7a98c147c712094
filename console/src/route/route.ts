/** Gives pages their address, their filters and navigation to others. `router.tsx` defines the pages. */
import { createContext, useContext } from 'react';
import { fillPath, type Search, type SearchParams, searchText } from './address.ts';

/** A navigation target. */
export interface Goal {
  /** A path, or a pattern of the router. Left out: the current page. */
  readonly to?: string;
  /** For the pattern's `$name`s. */
  readonly names?: SearchParams;
  /** Replaces all search parameters except the account. */
  readonly search?: SearchParams;
}

export interface Route {
  readonly pathname: string;
  readonly names: Search;
  readonly search: Search;
  /** `replace`: Back does not return to the current address. */
  navigate(goal: Goal & { readonly replace?: boolean }): void;
  /** Closes a view that has its own address: goes back to the goal if the user came from there. */
  returnTo(goal: Goal): void;
  /** Fetches the page of an address in advance. */
  prefetch(href: string): void;
}

export const RouteContext = createContext<Route | null>(null);

function useRoute(): Route {
  const route = useContext(RouteContext);
  if (route === null) throw new Error('there is no router around this part of the page');
  return route;
}

/** The address of a goal. It keeps the current account. */
export function hrefOf({ to, names = {}, search = {} }: Goal, from: Pick<Route, 'pathname' | 'search'>): string {
  const path = to === undefined ? from.pathname : fillPath(to, names);
  return path + searchText({ account: from.search.account, ...search });
}

export function usePathname(): string {
  return useRoute().pathname;
}

/** The value of each `$name` in the path. */
export function usePathNames(): Search {
  return useRoute().names;
}

/** The search parameters. */
export function useSearch(): Search {
  return useRoute().search;
}

export function useNavigate(): Route['navigate'] {
  return useRoute().navigate;
}

export function useReturnTo(): Route['returnTo'] {
  return useRoute().returnTo;
}

/** For a link: its address, navigation, and prefetching. */
export function useGoal(goal: Goal): { readonly href: string; go(): void; prefetch(): void } {
  const route = useRoute();
  const href = hrefOf(goal, route);
  return { href, go: () => route.navigate(goal), prefetch: () => route.prefetch(href) };
}

/**
 * The search parameters, and a function that changes some (undefined or empty: remove). Replaces the history entry, so
 * that Back leaves the page.
 */
export function useFilters(): readonly [
  Readonly<Record<string, string>>,
  (changes: Readonly<Record<string, string | undefined>>) => void,
] {
  const search = useSearch();
  const navigate = useNavigate();
  const change = (changes: Readonly<Record<string, string | undefined>>) => {
    const next = Object.fromEntries(
      Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined && value !== ''),
    );
    navigate({ search: next, replace: true });
  };
  return [search, change];
}
