/**
 * Preloaded into a gateway of the crash loop: its request thread or its writer thread kills the process at the failpoint
 * named by TOLLGATE_TEST_FAILPOINT. Nothing else in the gateway changes.
 */
import { armFailpoints } from '../../src/store/sqlite/failpoints.ts';
import { armedReach } from '../../src/store/sqlite/testing/armed-reach.ts';

const ARMED_WRITER = new URL('../../src/store/sqlite/testing/failpoint-writer.ts', import.meta.url);

armFailpoints(armedReach());

globalThis.Worker = class extends globalThis.Worker {
  constructor(program: string | URL, options?: WorkerOptions) {
    super(/\/store\/sqlite\/writer\/writer-worker\.[jt]s$/.test(String(program)) ? ARMED_WRITER : program, options);
  }
};
