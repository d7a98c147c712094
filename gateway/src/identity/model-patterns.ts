/**
 * Matches model names against a list of patterns. `*` matches any run of characters; all other characters match
 * themselves.
 */

/** Decides on one model name. Takes time linear in the name for each pattern with a `*`, constant for the others. */
export type ModelMatcher = (name: string) => boolean;

/** The matcher of a list of patterns; `null` means no restriction. */
export function compileModelPatterns(patterns: readonly string[] | null): ModelMatcher {
  if (patterns === null || patterns.some((pattern) => /^\*+$/.test(pattern))) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compileWildcard);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/**
 * Text before the first `*` must begin the name, text after the last must end it, and the rest is found left to right.
 * The leftmost match is always right, so no backtracking is needed.
 */
function compileWildcard(pattern: string): ModelMatcher {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const middle = pieces.slice(1, -1).filter((piece) => piece !== '');
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let at = first.length;
    for (const piece of middle) {
      const found = name.indexOf(piece, at);
      if (found === -1 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}
