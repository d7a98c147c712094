/**
 * Preloaded into a gateway of the crash loop: its writer thread kills the process at the failpoint named by
 * TOLLGATE_TEST_FAILPOINT. Nothing else in the gateway changes.
 */
const ARMED_WRITER = new URL('../../src/store/sqlite/testing/failpoint-writer.ts', import.meta.url);

globalThis.Worker = class extends globalThis.Worker {
  constructor(program: string | URL, options?: WorkerOptions) {
    super(/\/store\/sqlite\/writer\/writer-worker\.[jt]s$/.test(String(program)) ? ARMED_WRITER : program, options);
  }
};
