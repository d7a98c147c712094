/** Delays the exit of a test process until errors that tests left behind have surfaced. Loaded before every run. */
import { afterAll } from 'bun:test';

/**
 * Bun exits with status 0 if a timer or promise of the last test fails after it; with this delay it reports the error.
 */
const SETTLE_MS = 50;

afterAll(() => Bun.sleep(SETTLE_MS));
