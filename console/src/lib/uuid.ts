/** Generates idempotency ids. Also works on pages served by plain http, where `crypto.randomUUID` is missing. */

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
