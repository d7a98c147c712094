/** Maps addresses to the pages of the console, each its own chunk, and renders the current one. */
import {
  type ComponentType,
  type ReactNode,
  Suspense,
  startTransition,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react';
import { part, retryParts } from './lib/part.ts';
import { matchPath, readSearch } from './route/address.ts';
import { returnTo, walkTo, watchAddress } from './route/history.ts';
import { restoreScroll } from './route/restore-scroll.ts';
import { hrefOf, type Route, RouteContext } from './route/route.ts';
import { FaultBoundary, NoPage } from './shell/page-fault.tsx';

const PAGES: Readonly<Record<string, () => Promise<{ readonly default: ComponentType }>>> = {
  '/app': () => import('./pages/home/home-page.tsx'),
  '/app/sign-in': () => import('./pages/sign-in/signed-in-page.tsx'),
  '/app/setup': () => import('./pages/setup/setup-page.tsx'),
  '/app/invitations/$token': () => import('./pages/invitation/invitation-page.tsx'),
  '/app/reset/$token': () => import('./pages/reset/reset-page.tsx'),
  '/app/me': () => import('./pages/me/me-page.tsx'),
  '/app/keys': () => import('./pages/keys/keys-page.tsx'),
  '/app/keys/$key': () => import('./pages/keys/key-page.tsx'),
  '/app/usage': () => import('./pages/usage/usage-page.tsx'),
  '/app/logs/{-$request}': () => import('./pages/logs/logs-page.tsx'),
  '/app/sessions': () => import('./pages/sessions/sessions-page.tsx'),
  '/app/sessions/$session': () => import('./pages/sessions/session-page.tsx'),
  '/app/models': () => import('./pages/models/models-page.tsx'),
  '/app/models/$model': () => import('./pages/models/detail/model-page.tsx'),
  '/app/providers': () => import('./pages/providers/providers-page.tsx'),
  '/app/limits': () => import('./pages/limits/limits-page.tsx'),
  '/app/members': () => import('./pages/members/members-page.tsx'),
  '/app/workspaces': () => import('./pages/workspaces/workspaces-page.tsx'),
  '/app/billing': () => import('./pages/billing/billing-page.tsx'),
  '/app/billing/statement': () => import('./pages/billing/statement-page.tsx'),
  '/app/playground': () => import('./pages/playground/playground-page.tsx'),
  '/app/reconciliation': () => import('./pages/reconciliation/reconciliation-page.tsx'),
  '/app/guardrails': () => import('./pages/guardrails/guardrails-page.tsx'),
  '/app/alerts': () => import('./pages/alerts/alerts-page.tsx'),
  '/app/audit': () => import('./pages/audit/audit-page.tsx'),
  '/app/settings': () => import('./pages/settings/settings-page.tsx'),
  '/status': () => import('./pages/status/status-page.tsx'),
};
const PATTERNS = Object.keys(PAGES);
const VIEWS = new Map(PATTERNS.map((pattern) => [pattern, part(PAGES[pattern] as (typeof PAGES)[string])]));

interface Place {
  readonly pathname: string;
  readonly searchText: string;
  readonly scrollTo: number | null;
}

const patternOf = (pathname: string) => matchPath(PATTERNS, pathname)?.pattern;

function prefetch(href: string): void {
  const pattern = patternOf(new URL(href, location.href).pathname);
  if (pattern !== undefined) VIEWS.get(pattern)?.prefetch();
}

function readPlace(scrollTo: number | null): Place {
  return { pathname: location.pathname, searchText: location.search, scrollTo };
}

/** Wraps every page and provides its address. */
export function Router({ children }: { readonly children: ReactNode }) {
  const [place, setPlace] = useState(() => {
    prefetch(location.href);
    return readPlace(null);
  });
  useEffect(() => {
    let shown = patternOf(location.pathname);
    return watchAddress((scrollTo) => {
      const pattern = patternOf(location.pathname);
      // Parts that failed to load may load on another page.
      retryParts();
      const show = () => setPlace(readPlace(scrollTo));
      // Another page may need fetching; the current one stays until then. A filter of the same page applies at once.
      if (pattern === shown) show();
      else startTransition(show);
      shown = pattern;
    });
  }, []);
  useLayoutEffect(() => {
    return place.scrollTo === null ? undefined : restoreScroll(place.scrollTo);
  }, [place]);
  const route = useMemo((): Route => {
    const { pathname } = place;
    const search = readSearch(place.searchText);
    return {
      pathname,
      names: matchPath(PATTERNS, pathname)?.names ?? {},
      search,
      prefetch,
      navigate({ replace = false, ...goal }) {
        const href = hrefOf(goal, { pathname, search });
        const isSamePage = patternOf(new URL(href, location.href).pathname) === patternOf(pathname);
        walkTo(href, { replace, scrollTo: isSamePage ? null : 0 });
      },
      returnTo: (goal) => returnTo(hrefOf(goal, { pathname, search })),
    };
  }, [place]);
  return (
    <RouteContext value={route}>
      <FaultBoundary pathname={place.pathname}>{children}</FaultBoundary>
    </RouteContext>
  );
}

/** The page of the current address. */
export function RoutedPage() {
  const pathname = useContext(RouteContext)?.pathname ?? '';
  const View = VIEWS.get(patternOf(pathname) ?? '');
  if (View === undefined) return <NoPage />;
  return (
    <FaultBoundary pathname={pathname}>
      <Suspense>
        <View />
      </Suspense>
    </FaultBoundary>
  );
}
