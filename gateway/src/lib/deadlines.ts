/**
 * Provides one shared clock for the many time limits of live calls: cheap to set and to move, coarse (50 ms) by design.
 * Also the time for leases and rates, unaffected by changes of the system clock.
 */

/**
 * `dueMs` is on the `performance.now()` clock and may be moved at any time; `Infinity` pauses it. `onDue` must move or
 * unwatch it.
 */
export interface Deadline {
  dueMs: number;
  /** Its position in the list; only the clock writes it. Starts as `UNWATCHED`. */
  slot: number;
  onDue(nowMs: number): void;
}

export const UNWATCHED = -1;

const TICK_MS = 50;
/** A timer that is later than this ran in a process that was suspended, or held up. */
const PAUSE_MS = 1_000;

/**
 * Tells a timer that has to run every `everyMs`, and asks each time, whether the process did not run for a while. What
 * arrived meanwhile is read only after the timer, so that it should judge nothing by the time. True once, then false: time
 * limits must not wait for a process that is always late.
 */
export function watchPauses(everyMs: number): () => boolean {
  let askedMs = performance.now();
  let wasPaused = false;
  return () => {
    const nowMs = performance.now();
    wasPaused = !wasPaused && nowMs - askedMs > everyMs + PAUSE_MS;
    askedMs = nowMs;
    return wasPaused;
  };
}

/**
 * An array with positions, not a Set: at thousands of calls a second, a Set's churn keeps the garbage collector busy.
 */
const watched: Deadline[] = [];
let timer: ReturnType<typeof setInterval> | null = null;
let isAfterPause = watchPauses(TICK_MS);

function tick(): void {
  if (watched.length === 0) {
    if (timer !== null) clearInterval(timer);
    timer = null;
    return;
  }
  if (isAfterPause()) return;
  const nowMs = performance.now();
  // Backwards, because an entry that is unwatched meanwhile is replaced by the last one.
  for (let slot = watched.length - 1; slot >= 0; slot--) {
    const deadline = watched[slot];
    if (deadline !== undefined && deadline.dueMs <= nowMs) deadline.onDue(nowMs);
  }
}

/**
 * Starts watching a deadline. A timer per call would cost more than the rest of the call's bookkeeping, so all share
 * one.
 */
export function watchDeadline(deadline: Deadline): void {
  if (deadline.slot !== UNWATCHED) return;
  deadline.slot = watched.length;
  watched.push(deadline);
  if (timer === null) {
    isAfterPause = watchPauses(TICK_MS);
    timer = setInterval(tick, TICK_MS);
    timer.unref();
  }
}

/** Stops watching it; harmless if it is not watched. */
export function unwatchDeadline(deadline: Deadline): void {
  const { slot } = deadline;
  if (slot === UNWATCHED) return;
  const last = watched.pop();
  if (last !== undefined && last !== deadline) {
    watched[slot] = last;
    last.slot = slot;
  }
  deadline.slot = UNWATCHED;
}

/** All watched deadlines. */
export function watchedDeadlines(): readonly Deadline[] {
  return watched;
}

/** Clocks that are corrected go apart by less. */
const SUSPENDED_MS = 10_000;
const SUSPENSION_LOOK_MS = 100;

/**
 * Calls back soon after the machine was suspended, which the monotonic clock does not count, or the system clock was set
 * forward; both look the same. Returns a function that ends the watch.
 */
export function watchSuspensions(onResume: () => void, lookEveryMs = SUSPENSION_LOOK_MS): () => void {
  const aheadMs = () => Date.now() - performance.now();
  let lastMs = aheadMs();
  const watch = setInterval(() => {
    const nowMs = aheadMs();
    if (nowMs - lastMs > SUSPENDED_MS) onResume();
    lastMs = nowMs;
  }, lookEveryMs);
  watch.unref();
  return () => clearInterval(watch);
}

const STARTED_MS = performance.timeOrigin;

/** Unix ms, whole: the system time at process start, advanced by the monotonic clock. It never goes back. */
export function steadyNowMs(): number {
  return Math.floor(STARTED_MS + performance.now());
}
