/** Makes Ctrl-C and other signals end the bench normally, so that its exit listeners clean up. */

const STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Makes SIGHUP, SIGINT and SIGTERM exit with 128 plus the signal's number, as shells expect. */
export function exitOnSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => process.exit(STATUS[signal]));
  }
}
