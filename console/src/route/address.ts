/** Parses and builds addresses of the console: path patterns and search parameters. */

/** Search parameters, always as text: `{"from":1}` in an address is a name and a value, not a number. */
export type Search = Readonly<Record<string, string>>;

/** Search parameters to set; undefined and empty members are omitted. */
export type SearchParams = Readonly<Record<string, string | undefined>>;

export interface PathMatch {
  readonly pattern: string;
  /** The path's value for each `$name` of the pattern. */
  readonly names: Search;
}

/**
 * The first pattern that matches a path: `$name` matches one segment, `{-$name}` an optional one. Null when none
 * matches.
 */
export function matchPath(patterns: readonly string[], pathname: string): PathMatch | null {
  const segments = segmentsOf(pathname);
  for (const pattern of patterns) {
    const names = namesIn(segmentsOf(pattern), segments);
    if (names !== null) return { pattern, names };
  }
  return null;
}

function namesIn(pattern: readonly string[], segments: readonly string[]): Search | null {
  if (segments.length > pattern.length) return null;
  const names: Record<string, string> = {};
  for (const [at, piece] of pattern.entries()) {
    const segment = segments[at];
    const name = NAMED.exec(piece)?.[1];
    if (name === undefined ? segment !== piece : segment === undefined && !piece.startsWith('{')) return null;
    if (name !== undefined && segment !== undefined) names[name] = decoded(segment);
  }
  return names;
}

const NAMED = /^(?:\$|\{-\$)(\w+)\}?$/;

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Returns invalid encoding unchanged. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Fills a pattern's names; an optional segment without a value is omitted. */
export function fillPath(pattern: string, names: SearchParams): string {
  const segments = segmentsOf(pattern).map((piece) => {
    const name = NAMED.exec(piece)?.[1];
    if (name === undefined) return piece;
    const given = names[name];
    if (given === undefined && !piece.startsWith('{')) throw new Error(`the address ${pattern} needs a ${name}`);
    return given === undefined ? '' : encodeURIComponent(given);
  });
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}

/** Reads the search parameters. Of a repeated name, the last value counts. */
export function readSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Includes the `?`; empty when there are no parameters. */
export function searchText(search: SearchParams): string {
  const given = Object.entries(search).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}
