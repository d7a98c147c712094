/**
 * Reads the query of a request's URL. Never as a `URL`: of an HTTP/1.0 request or one with an odd `host` it is none, and its
 * constructor would throw.
 */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
}
