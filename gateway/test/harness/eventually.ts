/** Owns waiting for something that nobody announces: looks again and again until a deadline. Judges nothing. */

const LOOK_EVERY_MS = 20;

/**
 * What `look` found; null or undefined is nothing yet. Rejects after `timeoutMs`, naming `what` it waited for. Time in which a busy
 * machine does not let this process run does not count.
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
