/** Defines the input and result types of console API route handlers. */
import type { Arrival } from '../../people/sign-in/auth-cookies.ts';
import type { ConsoleRoute, ConsoleRoutes, PathNames, ReadBody, ReadQuery, Reply } from '../contract/contract.ts';
import type { Actor, Tenancy } from './actor.ts';

/** One authenticated, authorized and validated request. */
export interface ConsoleCall<Route extends ConsoleRoute> {
  readonly request: Request;
  /** The client's address; null: unknown. */
  readonly address: string | null;
  /** How the request arrived, for reading and setting cookies. */
  readonly arrival: Arrival;
  readonly actor: Actor;
  /** The rights in the `{account}` of the path. Throws when read on a route without one. */
  readonly tenancy: Tenancy;
  readonly path: { readonly [Name in PathNames<Route>]: string };
  readonly query: ReadQuery<Route>;
  readonly body: ReadBody<Route>;
  /** Headers of the response; for cookies. */
  readonly outgoing: Headers;
}

/** A file, generated line by line. `name`: the file name. */
export interface CsvFile {
  readonly name: string;
  readonly lines: AsyncIterable<string>;
}

/** The redirect target: a path of this server. */
export interface Redirect {
  readonly location: string;
}

export type Answer<Route extends ConsoleRoute> = ConsoleRoutes[Route]['reply'] extends 'csv'
  ? CsvFile
  : ConsoleRoutes[Route]['reply'] extends 'redirect'
    ? Redirect
    : Reply<Route>;

/** Throws ConsoleFailure for a refused request. */
export type Handler<Route extends ConsoleRoute> = (call: ConsoleCall<Route>) => Promise<Answer<Route>>;

/** A handler for every route: a missing one is a compile error. */
export type Handlers<Route extends ConsoleRoute = ConsoleRoute> = { readonly [One in Route]: Handler<One> };
