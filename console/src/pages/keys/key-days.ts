/**
 * Owns the days of a key's usage as words and as a range of the logs. Days are the account's, told by their date alone; the
 * range is of the same date in UTC, for the page does not know the account's zone.
 */

const WORDS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-11-22` → `22 Nov`; another text stays as it is. */
export function dayWords(day: string): string {
  const at = startOf(day);
  return at === null ? day : WORDS.format(at);
}

/** The day as the logs' filter has it; nothing for a text that is no day. */
export function dayInstants(day: string): { from?: string; to?: string } {
  const at = startOf(day);
  return at === null ? {} : { from: at.toISOString(), to: new Date(at.getTime() + 86_400_000).toISOString() };
}

function startOf(day: string): Date | null {
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00Z` : day);
  return Number.isNaN(at.getTime()) ? null : at;
}
