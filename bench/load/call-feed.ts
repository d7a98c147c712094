/** Decides when the clients of a load run may send their next call: immediately, or at a fixed rate. */

/** Times are those of `performance.now()`. */
export interface CallFeed {
  /** When the next call became due; null when none is due: then `wake` is called once, when a retry makes sense. */
  take(wake: () => void): number | null;
  /** The waiting client is gone. */
  forget(wake: () => void): void;
}

/** For clients that send the next call as soon as the last one is answered. */
export const AT_ONCE: CallFeed = { take: () => performance.now(), forget() {} };

export interface Arrivals extends CallFeed {
  /** Due calls that no client has taken yet. */
  readonly waiting: number;
  /** No more calls become due; every waiting client is woken. */
  stop(): void;
}

const TICK_MS = 1;

/**
 * Makes calls due at an even rate, regardless of open ones: while the subject stalls they queue up, and the time they
 * waited for a client is part of their latency. A late tick of ours makes its calls due later, so that it is not
 * charged to the subject.
 */
export function startArrivals(callsPerSecond: number): Arrivals {
  const due: number[] = [];
  const idle = new Set<() => void>();
  const startedAt = performance.now();
  let arrived = 0;

  function wakeIdle(count: number): void {
    for (const wake of [...idle].slice(0, count)) {
      idle.delete(wake);
      wake();
    }
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const wanted = Math.floor(((now - startedAt) * callsPerSecond) / 1000); arrived < wanted; arrived += 1) {
      due.push(now);
    }
    wakeIdle(due.length);
  }, TICK_MS);

  return {
    take(wake) {
      const next = due.shift();
      if (next === undefined) idle.add(wake);
      return next ?? null;
    },
    forget: (wake) => void idle.delete(wake),
    get waiting() {
      return due.length;
    },
    stop() {
      clearInterval(timer);
      wakeIdle(idle.size);
    },
  };
}
