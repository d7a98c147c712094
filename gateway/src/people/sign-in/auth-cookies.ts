/**
 * Owns the cookies of sign-in: their names and flags as they leave, and which of a request's are believed. Where the page came
 * by https they are `__Host-` cookies, which no other host and no plain page can set.
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';

/** What the names of all of them begin with, after `__Host-`. */
export const COOKIE_PREFIX = 'tollgate';
export const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token`;
export const SECOND_STEP_COOKIE = `${COOKIE_PREFIX}.two_factor`;
/** Binds the way to another service and back to one browser. */
export const STATE_COOKIE = `${COOKIE_PREFIX}.state`;
const HOST_PREFIX = '__Host-';

/** The address that a session is kept with comes to the library in this header, whatever the caller sent. */
export const CLIENT_ADDRESS_HEADER = 'x-tollgate-address';

/** How somebody came. `isForwardedHttps`: a proxy that is believed says that he came by https. */
export interface Arrival {
  readonly headers: Headers;
  readonly address: string | null;
  readonly isForwardedHttps: boolean;
}

/**
 * Whether the page came by https: a believed proxy says so, or the browser does, by its page's origin or by holding a cookie
 * that it takes by https only. A caller who lies about his own request harms nobody but himself.
 */
export function cameByHttps({ headers, isForwardedHttps }: Arrival): boolean {
  if (isForwardedHttps) return true;
  if (headers.get('origin')?.startsWith('https://') === true) return true;
  return (headers.get('cookie') ?? '').includes(`${HOST_PREFIX}${COOKIE_PREFIX}.`);
}

/** Our cookies of a request by their inner names, values as they were sent. */
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

/** What the library is told of a request: the named cookies, the client's word for itself, and its address. */
export function inwardHeaders(arrival: Arrival, cookieNames: readonly string[]): Headers {
  const cookies = readCookies(arrival);
  const sent = cookieNames.flatMap((name) => (cookies.has(name) ? [`${name}=${cookies.get(name)}`] : []));
  const headers = new Headers({ 'user-agent': (arrival.headers.get('user-agent') ?? '').slice(0, 300) });
  if (sent.length > 0) headers.set('cookie', sent.join('; '));
  if (arrival.address !== null) headers.set(CLIENT_ADDRESS_HEADER, arrival.address);
  return headers;
}

/** Hands the library's cookies on to the browser, with the names and flags that they have outside. */
export function sendCookies(library: Headers, arrival: Arrival, outgoing: Headers): void {
  const isHttps = cameByHttps(arrival);
  for (const cookie of library.getSetCookie()) {
    outgoing.append('set-cookie', isHttps ? `${HOST_PREFIX}${cookie}; Secure` : cookie);
  }
}

/** The session token that a request holds; null: none. Whether it is one, the store knows. */
export function readSessionToken(arrival: Arrival): string | null {
  const value = readCookies(arrival).get(SESSION_COOKIE);
  const [, token] = /^([0-9A-Za-z_-]{20,64})(?:\.|%2E|$)/i.exec(value ?? '') ?? [];
  return token ?? null;
}

/** A `set-cookie` line for a session token, signed as the library signs its own. */
export function renderSessionCookie(token: string, secret: Secret, secondsMax: number): string {
  const signature = createHmac('sha256', secret.reveal()).update(token).digest('base64');
  const value = encodeURIComponent(`${token}.${signature}`);
  return `${SESSION_COOKIE}=${value}; Max-Age=${secondsMax}; Path=/; HttpOnly; SameSite=Lax`;
}

/** A `set-cookie` line that takes the session's cookie away. */
export const NO_SESSION_COOKIE = `${SESSION_COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`;
