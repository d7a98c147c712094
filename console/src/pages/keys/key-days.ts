/** Owns the days of a key's usage as words. They are the account's, told by their date alone. */

const WORDS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-11-22` → `22 Nov`; another text stays as it is. */
export function dayWords(day: string): string {
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00Z` : day);
  return Number.isNaN(at.getTime()) ? day : WORDS.format(at);
}
