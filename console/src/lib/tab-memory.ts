/** Keeps values of this tab over a reload, in the session storage, until the user signs out. */

const PREFIX = 'tollgate.tab.';
/** Longer values are not kept: browsers allow a few megabytes per site. */
export const KEPT_CHARS_MAX = 1_000_000;

const readers = new Map<string, () => string | null>();
let isListening = false;

/** `read`: the value when the page is left; null: keep nothing. */
export function keepInTab(name: string, read: () => string | null): void {
  readers.set(name, read);
  if (isListening) return;
  isListening = true;
  addEventListener('pagehide', save);
}

/** The value from before the reload; null: nothing was kept. */
export function keptInTab(name: string): string | null {
  return sessionStorage.getItem(PREFIX + name);
}

/** Forgets everything, so that the next user of this tab finds nothing. */
export function forgetTab(): void {
  readers.clear();
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  }
}

function save(): void {
  for (const [name, read] of readers) {
    const value = read();
    sessionStorage.removeItem(PREFIX + name);
    if (value === null || value.length > KEPT_CHARS_MAX) continue;
    try {
      sessionStorage.setItem(PREFIX + name, value);
    } catch {
      // The storage is full or blocked: the value is lost with the page, as without this module.
    }
  }
}
