/** Owns what Ctrl-C and its kin do to the bench: they end it in the ordinary way, so that its exit listeners clean up. */

const STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** From now on SIGHUP, SIGINT and SIGTERM exit with 128 plus the signal's number, as a shell expects. */
export function exitOnSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => process.exit(STATUS[signal]));
  }
}
