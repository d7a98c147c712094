/**
 * Answers `GET /metrics` for Prometheus: to a key of the operator's account with the scope `admin`, because metrics are of
 * all accounts, and without a key to clients on this machine. Contract, 10.23.
 */
import { NO_SNIFF } from '../call/deliver/reply.ts';
import type { CallDeps } from '../call/deps.ts';
import { allowAddress, identify, readCredential } from '../call/request/identify.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { isLoopback } from '../lib/ip-range.ts';
import { OPERATOR_ACCOUNT } from '../people/roles.ts';

/** All metrics as text, in the format that the `accept` header asks for. */
export type RenderMetrics = (accept: string | null) => { readonly contentType: string; readonly text: string };

/** The client's side of the request. */
interface Scraper {
  /** The client's address; null: unknown. */
  address(): string | null;
  /** The address of the connection itself. */
  peer(): string | null;
}

/** Throws CallFailure for a client that may not read the metrics. */
export function showMetrics(
  { headers }: Pick<Request, 'headers'>,
  origin: Scraper,
  deps: Pick<CallDeps, 'directory'>,
  render: RenderMetrics,
): Response {
  if (!isLocal(headers, origin)) allowKey(headers, origin, deps);
  const { contentType, text } = render(headers.get('accept'));
  return new Response(text, { headers: { 'content-type': contentType, 'cache-control': 'no-store', ...NO_SNIFF } });
}

/**
 * Whether no key is needed. A proxy on this machine connects from it too: it shows itself by the headers that it adds, or
 * by the connection that it closes, as nginx does unless it is told otherwise
 * (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_set_header, 2026-11); scrapers keep theirs open. A
 * page in a browser on this machine can reach this address under a name of its own, so the host must be an address.
 */
function isLocal(headers: Headers, origin: Scraper): boolean {
  if (headers.has('authorization') || headers.has('x-api-key')) return false;
  const peer = origin.peer();
  if (peer === null || !isLoopback(peer)) return false;
  for (const name of headers.keys()) if (name === 'forwarded' || name.startsWith('x-forwarded-')) return false;
  if (/\bclose\b/i.test(headers.get('connection') ?? '')) return false;
  const host = (headers.get('host') ?? '').replace(/:\d+$/, '');
  return host === 'localhost' || isLoopback(host.replace(/^\[(.*)\]$/, '$1'));
}

function allowKey(headers: Headers, origin: Scraper, { directory }: Pick<CallDeps, 'directory'>): void {
  const principal = identify(directory, readCredential(headers, false));
  if (principal.accountId !== OPERATOR_ACCOUNT || !principal.scopes.includes('admin')) {
    throw new CallFailure(
      'scope_forbidden',
      'this API key may not read the metrics: it needs the scope "admin" in the account of the operator',
      {
        closeConnection: true,
      },
    );
  }
  allowAddress(principal, principal.ranges === null ? null : origin.address());
}
