/** Sends typed requests to the console API and turns failures into ApiError. `lib/queries.ts` caches replies. */
import type {
  Body,
  ConsoleRoute,
  PathNames,
  Query,
  Reply,
} from '../../../gateway/src/console-api/contract/contract.ts';

/** Input of a request: path parameters, query, body. */
export type Ask<Route extends ConsoleRoute> = ([PathNames<Route>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: { readonly [Name in PathNames<Route>]: string } }) &
  (Query<Route> extends undefined ? { readonly query?: undefined } : { readonly query: Query<Route> }) &
  (Body<Route> extends undefined ? { readonly body?: undefined } : { readonly body: Body<Route> });

export interface MemberFault {
  readonly member: string;
  readonly message: string;
}

/**
 * An error reply of the API. `page`: the page where it can be fixed. `faults`: one entry per invalid member, if any.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly member: string | null;
  readonly page: string | null;
  readonly faults: readonly MemberFault[];

  constructor(
    status: number,
    code: string,
    message: string,
    member: string | null,
    page: string | null,
    faults: readonly MemberFault[] = member === null ? [] : [{ member, message }],
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.member = member;
    this.page = page;
    this.faults = faults;
  }
}

/** Returns the method and URL of a route. */
export function addressOf<Route extends ConsoleRoute>(route: Route, ask: Ask<Route>): { method: string; url: string } {
  const space = route.indexOf(' ');
  const names: Readonly<Record<string, string>> = ask.path ?? {};
  const path = route.slice(space + 1).replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
  return { method: route.slice(0, space), url: `/app/api${path}${queryText(ask.query)}` };
}

function queryText(query: unknown): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Readonly<Record<string, unknown>>)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** Sends a request and returns the route's reply. Throws ApiError; its message can be shown as it is. */
export async function ask<Route extends ConsoleRoute>(
  route: Route,
  given: Ask<Route>,
  signal?: AbortSignal,
): Promise<Reply<Route>> {
  const { method, url } = addressOf(route, given);
  const hasBody = given.body !== undefined;
  const response = await fetch(url, {
    method,
    credentials: 'same-origin',
    headers: hasBody ? { 'content-type': 'application/json' } : {},
    body: hasBody ? JSON.stringify(given.body) : null,
    signal: signal ?? null,
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new ApiError(
      0,
      'unreachable',
      unsure(route, 'Can’t reach the gateway. Check that it’s running.'),
      null,
      null,
    );
  });
  const text = await response.text().catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new ApiError(0, 'unreachable', unsure(route, 'The gateway’s reply was cut off.'), null, null);
  });
  const reply = parseJson(text);
  if (response.ok && reply !== undefined) return reply as Reply<Route>;
  throw failureOf(response.status, reply);
}

/** The gateway may have carried out what it could not report. */
function unsure(route: ConsoleRoute, what: string): string {
  return /^GET|sign-in/.test(route) ? what : `${what} Your change may have been saved: check before you repeat it.`;
}

function failureOf(status: number, reply: unknown): ApiError {
  const error = (reply as { error?: Record<string, unknown> } | undefined)?.error;
  const text = (name: string): string | null => (typeof error?.[name] === 'string' ? (error[name] as string) : null);
  return new ApiError(
    status,
    text('code') ?? 'unknown',
    text('message') ?? `The gateway responded with status ${status} and no error message.`,
    text('member'),
    text('page'),
    Array.isArray(error?.faults) ? (error.faults as MemberFault[]) : undefined,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
