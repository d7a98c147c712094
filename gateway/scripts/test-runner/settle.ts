/**
 * Stops what the files of a run share, and delays the exit of the test process until errors that tests left behind have
 * surfaced. Loaded before every run.
 */
import { afterAll } from 'bun:test';
import { endRun } from './end-of-run.ts';

/**
 * Bun exits with status 0 if a timer or promise of the last test fails after it; with this delay it reports the error.
 */
const SETTLE_MS = 50;

afterAll(async () => {
  await endRun();
  await Bun.sleep(SETTLE_MS);
});
