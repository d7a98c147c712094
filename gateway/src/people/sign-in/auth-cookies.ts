/**
 * Reads and writes the sign-in cookies: their names, their flags, and which cookies of a request are accepted. Over
 * https they are `__Host-` cookies, which neither another host nor a page without https can set.
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';

/** The prefix of all cookie names, after `__Host-`. */
export const COOKIE_PREFIX = 'tollgate';
export const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token`;
export const SECOND_STEP_COOKIE = `${COOKIE_PREFIX}.two_factor`;
/** Binds a sign-in with another service, from redirect to callback, to one browser. */
export const STATE_COOKIE = `${COOKIE_PREFIX}.state`;
const HOST_PREFIX = '__Host-';

/** Passes the client address of a session to the library. Overwrites any value that the client sent. */
export const CLIENT_ADDRESS_HEADER = 'x-tollgate-address';

/** How a request arrived. `isForwardedHttps`: a trusted proxy reports https. */
export interface Arrival {
  readonly headers: Headers;
  readonly address: string | null;
  readonly isForwardedHttps: boolean;
}

/**
 * Whether the page was loaded over https: a trusted proxy says so, or the browser does, by the origin of its page or by
 * sending a cookie that it accepts only over https. A client that lies about its own request harms only itself.
 */
export function cameByHttps({ headers, isForwardedHttps }: Arrival): boolean {
  if (isForwardedHttps) return true;
  if (headers.get('origin')?.startsWith('https://') === true) return true;
  return (headers.get('cookie') ?? '').includes(`${HOST_PREFIX}${COOKIE_PREFIX}.`);
}

/** Our cookies of a request by their names without the `__Host-` prefix; values as sent. */
export function readCookies(arrival: Arrival): ReadonlyMap<string, string> {
  const prefix = cameByHttps(arrival) ? HOST_PREFIX : '';
  const found = new Map<string, string>();
  for (const pair of (arrival.headers.get('cookie') ?? '').split(';')) {
    const split = pair.indexOf('=');
    const name = pair.slice(0, split).trim();
    if (split > 0 && name.startsWith(`${prefix}${COOKIE_PREFIX}.`)) {
      found.set(name.slice(prefix.length), pair.slice(split + 1).trim());
    }
  }
  return found;
}

/** The headers passed to the library: the named cookies, the user agent and the client's address. */
export function inwardHeaders(arrival: Arrival, cookieNames: readonly string[]): Headers {
  const cookies = readCookies(arrival);
  const sent = cookieNames.flatMap((name) => (cookies.has(name) ? [`${name}=${cookies.get(name)}`] : []));
  const headers = new Headers({ 'user-agent': (arrival.headers.get('user-agent') ?? '').slice(0, 300) });
  if (sent.length > 0) headers.set('cookie', sent.join('; '));
  if (arrival.address !== null) headers.set(CLIENT_ADDRESS_HEADER, arrival.address);
  return headers;
}

/** Passes the library's cookies on to the browser, with their external names and flags. */
export function sendCookies(library: Headers, arrival: Arrival, outgoing: Headers): void {
  const isHttps = cameByHttps(arrival);
  for (const cookie of library.getSetCookie()) {
    outgoing.append('set-cookie', isHttps ? `${HOST_PREFIX}${cookie}; Secure` : cookie);
  }
}

/** The session token of a request; null: none. The store checks whether it is valid. */
export function readSessionToken(arrival: Arrival): string | null {
  const value = readCookies(arrival).get(SESSION_COOKIE);
  const [, token] = /^([0-9A-Za-z_-]{20,64})(?:\.|%2E|$)/i.exec(value ?? '') ?? [];
  return token ?? null;
}

/** A `set-cookie` line for a session token, signed the way the library signs its own. */
export function renderSessionCookie(token: string, secret: Secret, secondsMax: number): string {
  const signature = createHmac('sha256', secret.reveal()).update(token).digest('base64');
  const value = encodeURIComponent(`${token}.${signature}`);
  return `${SESSION_COOKIE}=${value}; Max-Age=${secondsMax}; Path=/; HttpOnly; SameSite=Lax`;
}

/** A `set-cookie` line that removes the session cookie. */
export const NO_SESSION_COOKIE = `${SESSION_COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`;
