/** Owns when the clients of a load run may send their next call: at once, or so many a second. Sends nothing. */

/** Times are those of `performance.now()`. */
export interface CallFeed {
  /** When the call to be sent now became due; null where none is: then `wake` is called, once, when it pays to ask again. */
  take(wake: () => void): number | null;
  /** The client that waited is gone. */
  forget(wake: () => void): void;
}

/** For clients that send the next call when the last one is answered. */
export const AT_ONCE: CallFeed = { take: () => performance.now(), forget() {} };

export interface Arrivals extends CallFeed {
  /** Calls that nobody took yet. */
  readonly waiting: number;
  /** No call becomes due any more; every waiting client is woken. */
  stop(): void;
}

const TICK_MS = 1;

/**
 * Calls become due at an even pace, whatever is still open: where the subject stands still they pile up, and what they
 * waited for a client is part of their time. A tick of ours that is late makes its calls due late: that is not the subject's.
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
