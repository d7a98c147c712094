/** Replaces browser features that are missing on pages served by plain http: the clipboard and random UUIDs. */

/** Returns whether the text was copied. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text);
    }
  }
  return copyBySelection(text);
}

/** Browsers provide no clipboard API without https, but allow copying a selection. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed -left-[9999px] top-0';
  const { activeElement } = document;
  // In the dialog on top, which makes everything else inert.
  ([...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
  return copied;
}

/** A random UUID, version 4. */
export function randomUuid(): string {
  return formatUuid(crypto.getRandomValues(new Uint8Array(16)));
}

/** Formats sixteen bytes as a UUID of version 4, variant 1. */
export function formatUuid(bytes: Uint8Array): string {
  const marked = Uint8Array.from(bytes);
  marked[6] = ((marked[6] ?? 0) & 0x0f) | 0x40;
  marked[8] = ((marked[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...marked].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
