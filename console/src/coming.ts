/** Owns the list of files that stand in for the console, and under which paths a browser expects them. Serves nothing. */

export interface ConsoleFile {
  readonly path: string;
  readonly file: URL;
  readonly contentType: string;
}

/** The page itself, to be answered at `/app` and every path below it that is no asset. */
export const COMING_PAGE: ConsoleFile = {
  path: '/app',
  file: new URL('./coming.html', import.meta.url),
  contentType: 'text/html; charset=utf-8',
};

/** What the page loads, by exact path. */
export const COMING_ASSETS: readonly ConsoleFile[] = [
  { path: '/app/coming.css', file: new URL('./coming.css', import.meta.url), contentType: 'text/css; charset=utf-8' },
];

/** The policy the page holds to: its own style sheet, an empty icon, nothing else. */
export const COMING_CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
