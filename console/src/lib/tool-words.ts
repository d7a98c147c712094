/** Owns how a kind of tool that runs upstream is said. Kinds are upstream's words: any may come. */

/** `web_search` → `Web search`. */
export function toolWords(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
