/** Manages one child process at a time: ends it, starts the next, ends the last. Knows nothing about the program. */

/** The parts of a child process that are used here. */
export interface Child {
  readonly exited: Promise<number>;
  kill(signal: 'SIGINT' | 'SIGKILL'): void;
}

export interface KeptRunning {
  /** Ends the child, then starts another one. A second request before that still starts only one. */
  restart(): void;
  /** Ends the child permanently. */
  stop(): Promise<void>;
}

const KILL_AFTER_MS = 5_000;

/**
 * Starts a child now. `onEndedAlone` receives the status of a child that ended by itself; nothing starts until
 * `restart`.
 */
export function keepRunning(
  start: () => Child,
  onEndedAlone: (status: number) => void,
  killAfterMs = KILL_AFTER_MS,
): KeptRunning {
  let current: Child | null = null;
  let turning: Promise<void> | null = null;
  let over = false;

  function launch(): void {
    const child = start();
    current = child;
    void child.exited.then((status) => {
      if (current !== child) return;
      current = null;
      if (!over) onEndedAlone(status);
    });
  }

  async function end(): Promise<void> {
    const child = current;
    if (child === null) return;
    current = null;
    child.kill('SIGINT');
    const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    await child.exited;
    clearTimeout(timer);
  }

  async function turn(): Promise<void> {
    await end();
    turning = null;
    if (!over) launch();
  }

  launch();
  return {
    restart() {
      if (!over) turning ??= turn();
    },
    async stop() {
      over = true;
      await turning;
      await end();
    },
  };
}
