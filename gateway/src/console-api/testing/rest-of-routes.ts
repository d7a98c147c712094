/** Fills in handlers for the routes that a test does not serve; calling one of them is an error in the test. */
import { CONSOLE_ROUTES, type ConsoleRoute } from '../contract/contract.ts';
import type { Handlers } from '../kernel/handlers.ts';

/** A handler for every route: the given ones, and one that throws for each of the rest. */
export function withRest(served: Partial<Handlers>): Handlers {
  const rest = (Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]).map((route) => [
    route,
    async () => {
      throw new Error(`this test does not serve ${route}`);
    },
  ]);
  return { ...Object.fromEntries(rest), ...served };
}
