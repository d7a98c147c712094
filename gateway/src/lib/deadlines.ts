/** Owns one shared clock for the many time limits of live calls: cheap to set and to move, coarse (50 ms) by design. */

/** `dueMs` is on the `performance.now()` clock; it may be moved at any time; `Infinity` rests. `onDue` must move or unwatch it. */
export interface Deadline {
  dueMs: number;
  onDue(nowMs: number): void;
}

const TICK_MS = 50;
const watched = new Set<Deadline>();
let timer: ReturnType<typeof setInterval> | null = null;

function tick(): void {
  if (watched.size === 0) {
    if (timer !== null) clearInterval(timer);
    timer = null;
    return;
  }
  const nowMs = performance.now();
  for (const deadline of watched) {
    if (deadline.dueMs <= nowMs) deadline.onDue(nowMs);
  }
}

/** Starts to watch a deadline. A timer per call would cost more than the call's whole bookkeeping, so all share one. */
export function watchDeadline(deadline: Deadline): void {
  watched.add(deadline);
  if (timer === null) {
    timer = setInterval(tick, TICK_MS);
    timer.unref();
  }
}

/** Stops to watch it; harmless when it is not watched. */
export function unwatchDeadline(deadline: Deadline): void {
  watched.delete(deadline);
}
