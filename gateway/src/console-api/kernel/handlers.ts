/** Defines the input and result types of console API route handlers, and sends CSV files. */
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

/**
 * The response that a browser saves as a file. If `lines` throws, the connection breaks, so that a partial file does
 * not look complete, and `onFault` is called.
 */
export function csvResponse({ name, lines }: CsvFile, headers: Headers, onFault: (cause: unknown) => void): Response {
  headers.set('content-type', 'text/csv; charset=utf-8');
  headers.set('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`);
  return new Response(toStream(lines, onFault), { headers });
}

function toStream(lines: AsyncIterable<string>, onFault: (cause: unknown) => void): ReadableStream<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (cause) {
        onFault(cause);
        controller.error(cause);
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
