/** Owns waiting for something that nobody announces: looks again and again until a deadline. Judges nothing. */

const LOOK_EVERY_MS = 20;

/** What `look` found; null or undefined is nothing yet. Rejects after `timeoutMs`, naming `what` it waited for. */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | null | undefined> | Found | null | undefined,
  timeoutMs = 5_000,
): Promise<Found> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    if (performance.now() >= endMs) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
