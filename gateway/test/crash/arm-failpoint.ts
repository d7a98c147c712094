/**
 * A preload for a gateway of the crash loop: its writer thread is the one that kills the process at the moment that
 * TOLLGATE_TEST_FAILPOINT names. Nothing else of the gateway differs.
 */
const ARMED_WRITER = new URL('../../src/store/sqlite/testing/failpoint-writer.ts', import.meta.url);

globalThis.Worker = class extends globalThis.Worker {
  constructor(program: string | URL, options?: WorkerOptions) {
    super(String(program).endsWith('/store/sqlite/writer/writer-worker.ts') ? ARMED_WRITER : program, options);
  }
};
