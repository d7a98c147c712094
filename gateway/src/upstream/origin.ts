/** Defines an upstream origin (scheme, host, port) and parses it from a base URL. Knows no credential. */

/** `authority` is the value of the `host` header; `key` is unique per origin. */
export interface Origin {
  readonly key: string;
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  /** Every address of the host must be public, checked at each connection. */
  readonly publicOnly?: true;
}

/** Splits a base URL (already checked by the configuration) into its origin and its path without a trailing slash. */
export function parseBaseUrl(baseUrl: string): { readonly origin: Origin; readonly basePath: string } {
  const url = new URL(baseUrl);
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return {
    origin: { key: url.origin, tls, host, port, authority: url.host },
    basePath: url.pathname.replace(/\/+$/, ''),
  };
}
