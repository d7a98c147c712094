/**
 * Lists every route below `/app/api`: its access rule, input and reply. The server serves only these routes, the tests
 * derive their access matrix from them, and the console imports their types.
 */
import type { z } from 'zod';
import { alertRoutes } from './alerts.ts';
import { bookRoutes } from './books.ts';
import { callRoutes } from './calls.ts';
import { guardrailRoutes } from './guardrails.ts';
import { keyRoutes } from './keys.ts';
import { logRoutes } from './logs.ts';
import { modelRoutes } from './models.ts';
import { peopleRoutes } from './people.ts';
import { policyRoutes } from './policy.ts';
import { routingRoutes } from './routing.ts';
import type { RouteRow } from './row.ts';
import { savedViewRoutes } from './saved-views.ts';
import { statementRoutes } from './statements.ts';
import { usageRoutes } from './usage.ts';

export const CONSOLE_ROUTES = {
  ...peopleRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...logRoutes,
  ...callRoutes,
  ...modelRoutes,
  ...routingRoutes,
  ...policyRoutes,
  ...bookRoutes,
  ...statementRoutes,
  ...savedViewRoutes,
  ...alertRoutes,
  ...guardrailRoutes,
} as const;

export type ConsoleRoutes = typeof CONSOLE_ROUTES;
export type ConsoleRoute = keyof ConsoleRoutes;

/** The JSON reply of a route. */
export type Reply<Route extends ConsoleRoute> = ConsoleRoutes[Route]['reply'] extends z.ZodType
  ? z.output<ConsoleRoutes[Route]['reply']>
  : never;
/** The body as the client sends it. */
export type Body<Route extends ConsoleRoute> = ConsoleRoutes[Route] extends { readonly body: z.ZodType }
  ? z.input<ConsoleRoutes[Route]['body']>
  : undefined;
/** The query as the client sends it. */
export type Query<Route extends ConsoleRoute> = ConsoleRoutes[Route] extends { readonly query: z.ZodType }
  ? z.input<ConsoleRoutes[Route]['query']>
  : undefined;
/** The query as the handler receives it. */
export type ReadQuery<Route extends ConsoleRoute> = ConsoleRoutes[Route] extends { readonly query: z.ZodType }
  ? z.output<ConsoleRoutes[Route]['query']>
  : undefined;
/** The body as the handler receives it. */
export type ReadBody<Route extends ConsoleRoute> = ConsoleRoutes[Route] extends { readonly body: z.ZodType }
  ? z.output<ConsoleRoutes[Route]['body']>
  : undefined;

/** The names in braces in the path of a route. */
export type PathNames<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** The row of a route, without its specific type. */
export function rowOf(route: ConsoleRoute): RouteRow {
  return CONSOLE_ROUTES[route];
}
