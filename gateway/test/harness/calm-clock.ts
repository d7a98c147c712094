/**
 * Measures how long something takes on a machine that may be busy: time that passes while the machine does not let this process run
 * is left out. A promise such as "within 200 ms" is so held to the product, and not to what else the machine does.
 */

const LOOK_EVERY_MS = 5;

/** Answers the milliseconds since it was started, less those by which its own timer came late. Once asked, it stands still. */
export function startCalmClock(): () => number {
  const startMs = performance.now();
  let dueMs = startMs + LOOK_EVERY_MS;
  let lateMs = 0;
  const look = (): void => {
    const nowMs = performance.now();
    lateMs += Math.max(0, nowMs - dueMs);
    dueMs = nowMs + LOOK_EVERY_MS;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return performance.now() - startMs - lateMs;
  };
}
