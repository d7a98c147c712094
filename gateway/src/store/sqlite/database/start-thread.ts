/** Starts threads of the store, where the process has the file descriptors for them. */
import { hasFreeDescriptors } from '../../../lib/open-files.ts';
import { Unavailable } from '../../ports/store-errors.ts';

/**
 * The runtime ends the whole process if a thread finds no descriptor for its event loop (1.4.5). It takes three, a few for
 * its program and its database, and until then, some milliseconds, new connections take others.
 */
const DESCRIPTORS_MIN = 32;

/** Starts a thread. @throws Unavailable where too few file descriptors are free, or the system allows no further thread */
export function startThread(program: URL): Worker {
  if (!hasFreeDescriptors(DESCRIPTORS_MIN)) {
    throw new Unavailable(
      'failed',
      'A thread of the store cannot start: too few file descriptors are free. Close connections, or raise the limit (ulimit -n); nothing needs a restart.',
    );
  }
  try {
    // A smaller heap costs no measurable time here.
    return new Worker(program, { smol: true });
  } catch (cause) {
    throw new Unavailable(
      'failed',
      `A thread of the store cannot start (${cause instanceof Error ? cause.message : String(cause)}). If the system allows no more of them, raise the limit of processes; nothing needs a restart.`,
    );
  }
}
