/** Makes a start on a full disk wait for space and log it, instead of failing. */
import { isDiskFull } from '../store/sqlite/sqlite-fault.ts';
import type { Log } from '../telemetry/log.ts';

const RETRY_MS = 2_000;
/** Tries between two lines of the log. */
const TRIES_PER_LINE = 30;

/**
 * Starts, and retries while the disk has no space for what a start writes; each try leaves nothing open behind. Rejects
 * on any other error. `retryMs`: only tests set it.
 */
export async function waitForDiskSpace<Started>(
  start: () => Promise<Started>,
  log: Pick<Log, 'warn'>,
  retryMs: number = RETRY_MS,
): Promise<Started> {
  for (let tries = 0; ; tries++) {
    try {
      const started = await start();
      if (tries > 0) log.warn('the disk has free space again; continuing to start');
      return started;
    } catch (fault) {
      if (!isDiskFull(fault)) throw fault;
      if (tries % TRIES_PER_LINE === 0) {
        log.warn(
          { cause: fault instanceof Error ? fault.message : String(fault) },
          'the disk is full: the server cannot start until there is space for the data folder. Free some space',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
