/** Polls for a condition until a deadline. */

const LOOK_EVERY_MS = 20;

/**
 * Resolves with the value that `look` found; null or undefined means not yet. Rejects after `timeoutMs`, naming `what`
 * it waited for. Time in which a busy machine does not run this process does not count.
 */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | null | undefined> | Found | null | undefined,
  timeoutMs = 5_000,
): Promise<Found> {
  let endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    if (performance.now() >= endMs) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    const sleptMs = performance.now();
    await Bun.sleep(LOOK_EVERY_MS);
    endMs += Math.max(0, performance.now() - sleptMs - LOOK_EVERY_MS);
  }
}
