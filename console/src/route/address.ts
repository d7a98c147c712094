/** Owns addresses of the console as text: which page one means, what it says after the `?`, and how one is written. */

/** What stands after the `?`, always as text: `{"from":1}` in an address is a name and a value, not a number. */
export type Search = Readonly<Record<string, string>>;

/** What is to stand there; undefined and empty members are left out. */
export type SearchWish = Readonly<Record<string, string | undefined>>;

export interface PathMatch {
  readonly pattern: string;
  /** What the address has for each `$name` of the pattern. */
  readonly names: Search;
}

/** The first pattern that a path fits: `$name` is any one segment, `{-$name}` one that may be missing. Null: none does. */
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

/** As it stands, where it is no encoded text. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The path that a pattern has with these names; a segment that may be missing is left out where it has none. */
export function fillPath(pattern: string, names: SearchWish): string {
  const segments = segmentsOf(pattern).map((piece) => {
    const name = NAMED.exec(piece)?.[1];
    if (name === undefined) return piece;
    const given = names[name];
    if (given === undefined && !piece.startsWith('{')) throw new Error(`the address ${pattern} needs a ${name}`);
    return given === undefined ? '' : encodeURIComponent(given);
  });
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}

/** The members of an address. Of a name that stands there twice, the last counts. */
export function readSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** With its `?`; empty where nothing is to stand there. */
export function searchText(search: SearchWish): string {
  const given = Object.entries(search).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}
