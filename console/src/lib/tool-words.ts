/** Formats kinds of upstream tools for display. Providers define the kinds, so any value may occur. */

/** `web_search` → `Web search`. */
export function toolWords(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
