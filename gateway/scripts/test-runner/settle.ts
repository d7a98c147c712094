/** Owns the moment after the last test: loaded before every run, it keeps the process until errors that tests left behind have surfaced. */
import { afterAll } from 'bun:test';

/** Bun ends with status 0 when a timer or promise of the last test fails after it; given this long it reports the error. */
const SETTLE_MS = 50;

afterAll(() => Bun.sleep(SETTLE_MS));
