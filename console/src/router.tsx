/** Owns the addresses of the console: each page its own chunk. What a page keeps in its address, it validates itself. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { Gate } from './shell/gate.tsx';
import { NoPage, PageFault } from './shell/page-fault.tsx';

type Search = Readonly<Record<string, string>>;

/** Every member of the address as text; a page reads those that it knows. */
function textMembers(search: Record<string, unknown>): Search {
  return Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [name, String(value)]),
  );
}

const root = createRootRoute({
  component: Gate,
  errorComponent: PageFault,
  notFoundComponent: NoPage,
  validateSearch: textMembers,
  search: { middlewares: [retainSearchParams(['account'])] },
});

const PAGES = {
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
  '/app/models': () => import('./pages/models/models-page.tsx'),
  '/app/providers': () => import('./pages/providers/providers-page.tsx'),
  '/app/limits': () => import('./pages/limits/limits-page.tsx'),
  '/app/members': () => import('./pages/members/members-page.tsx'),
  '/app/workspaces': () => import('./pages/workspaces/workspaces-page.tsx'),
  '/app/billing': () => import('./pages/billing/billing-page.tsx'),
  '/app/playground': () => import('./pages/playground/playground-page.tsx'),
  '/app/audit': () => import('./pages/audit/audit-page.tsx'),
  '/app/settings': () => import('./pages/settings/settings-page.tsx'),
  '/status': () => import('./pages/status/status-page.tsx'),
} as const;

const routes = Object.entries(PAGES).map(([path, load]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFault,
  defaultNotFoundComponent: NoPage,
  scrollRestoration: true,
  // As text: `{"from":1}` in an address is a name and a value, not a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
});
