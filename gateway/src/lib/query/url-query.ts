/**
 * Reads the query of a request's URL. The constructor of `URL` would throw where the `host` is missing or odd.
 */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
}
