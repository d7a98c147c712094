/** Owns the time by which leases and rates are measured: no step of the system's clock moves it. */

/** Unix ms, whole, as the clock stood when the process began, carried on by the monotonic clock. It never goes back. */
export function steadyNowMs(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
