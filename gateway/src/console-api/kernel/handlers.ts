/** Owns what a route of the console API is given and what it gives back. Knows no single route. */
import type { Arrival } from '../../people/sign-in/auth-cookies.ts';
import type { ConsoleRoute, ConsoleRoutes, PathNames, ReadBody, ReadQuery, Reply } from '../contract/contract.ts';
import type { Actor, Tenancy } from './actor.ts';

/** One request, after everything about it was checked: who asks, for which account, with what. */
export interface ConsoleCall<Route extends ConsoleRoute> {
  readonly request: Request;
  /** The caller's address; null: unknown. */
  readonly address: string | null;
  /** How the request came, for whoever reads or sets cookies. */
  readonly arrival: Arrival;
  readonly actor: Actor;
  /** The rights in the `{account}` of the path. Only of routes that have one: reading it elsewhere throws. */
  readonly tenancy: Tenancy;
  readonly path: { readonly [Name in PathNames<Route>]: string };
  readonly query: ReadQuery<Route>;
  readonly body: ReadBody<Route>;
  /** Goes out with the answer; for cookies. */
  readonly outgoing: Headers;
}

/** A file, line by line as it is made. `name`: of the file. */
export interface CsvFile {
  readonly name: string;
  readonly lines: AsyncIterable<string>;
}

/** The page to send the browser on to: a path of this server. */
export interface Redirect {
  readonly location: string;
}

export type Answer<Route extends ConsoleRoute> = ConsoleRoutes[Route]['reply'] extends 'csv'
  ? CsvFile
  : ConsoleRoutes[Route]['reply'] extends 'redirect'
    ? Redirect
    : Reply<Route>;

/** Throws ConsoleFailure for what it refuses. */
export type Handler<Route extends ConsoleRoute> = (call: ConsoleCall<Route>) => Promise<Answer<Route>>;

/** A handler for each of the routes: a route without one does not compile. */
export type Handlers<Route extends ConsoleRoute = ConsoleRoute> = { readonly [One in Route]: Handler<One> };
