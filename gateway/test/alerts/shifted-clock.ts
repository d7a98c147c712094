/** Shifts the calendar clock of a gateway; preloaded, the monotonic clock and the clients' time stay. */
const now = Date.now;
const shiftMs = Number(process.env.TOLLGATE_TEST_CLOCK_SHIFT_MS ?? '0');
Date.now = () => now() + shiftMs;
