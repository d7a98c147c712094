/** Owns the refusal of requests that another site makes a browser send: for whoever comes with a cookie. Security design, 2026-11. */
import { ConsoleFailure } from './console-failure.ts';

const READS = new Set(['GET', 'HEAD']);

/**
 * Throws `cross_site` where a request that changes something does not come from a page of this server. A browser sends
 * `sec-fetch-site` with every request; an old one `origin` at least. `publicUrl`: what people reach the gateway at, behind a
 * proxy that speaks to it under another name.
 */
export function checkSameOrigin(request: Request, publicUrl: string | null): void {
  if (READS.has(request.method)) return;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isOwn = site === 'same-origin' || (site === null && origin !== null);
  const host = origin === null ? null : hostOf(origin);
  if (isOwn && (origin === null || host === request.headers.get('host') || isAt(origin, publicUrl))) return;
  throw new ConsoleFailure('cross_site', 'this request did not come from a page of this console; open the page anew');
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

function isAt(origin: string, publicUrl: string | null): boolean {
  return publicUrl !== null && origin === new URL(publicUrl).origin;
}
