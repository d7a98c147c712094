/**
 * Shifts the calendar clock of a gateway, while the monotonic clock and the clients' time stay, and evaluates its alerts
 * more often than each 5 s; preloaded.
 */
const now = Date.now;
const shiftMs = Number(process.env.TOLLGATE_TEST_CLOCK_SHIFT_MS ?? '0');
Date.now = () => now() + shiftMs;

const TICK_MS = 5_000;
const repeat = globalThis.setInterval;
globalThis.setInterval = ((act: () => void, pauseMs: number) =>
  repeat(act, pauseMs === TICK_MS ? Number(process.env.TOLLGATE_TEST_TICK_MS ?? pauseMs) : pauseMs)) as typeof repeat;
