/** Provides the time for leases and rates, unaffected by changes of the system clock. */

/** Unix ms, whole: the system time at process start, advanced by the monotonic clock. It never goes back. */
export function steadyNowMs(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
