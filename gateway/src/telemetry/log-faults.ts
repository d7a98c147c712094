/** Logs what nothing else has caught. */
import type { Log } from './log.ts';

/**
 * Logs faults outside any request, such as in a timer, and serves on: what they leave half done is in memory only, and the
 * requests that run have nothing to do with it.
 */
export function logFaults(log: Pick<Log, 'error'>): void {
  const note = (cause: unknown) =>
    log.error(
      { cause: cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause) },
      'a fault of the gateway outside any request: requests go on; please report it',
    );
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
}
