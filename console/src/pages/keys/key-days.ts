/** Formats the days of a key's usage. They are days in the account's zone, given as dates only. */

const WORDS = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-11-22` → `Nov 22`; other text is returned unchanged. */
export function dayWords(day: string): string {
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00Z` : day);
  return Number.isNaN(at.getTime()) ? day : WORDS.format(at);
}
