/** Times a synchronous function: the best and the median of several rounds, after a warm-up. */

/** Nanoseconds per call. The best round shows what the code can do; the median shows how quiet the machine was. */
export interface Timing {
  readonly bestNs: number;
  readonly medianNs: number;
}

const ROUNDS = 15;
const ROUND_NS = 20_000_000;

/** Runs `work` for about half a second. Its result is used, so that it is not optimized away. */
export function measure(work: () => unknown): Timing {
  let sink: unknown;
  const calls = calibrate(work);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedNs = Bun.nanoseconds();
    for (let call = 0; call < calls; call++) sink = work();
    rounds.push((Bun.nanoseconds() - startedNs) / calls);
  }
  if (sink === measure) throw new Error('unreachable: the result is read only to force its computation');
  rounds.sort((a, b) => a - b);
  return { bestNs: rounds[0] ?? 0, medianNs: rounds[ROUNDS >> 1] ?? 0 };
}

/** Prints one human-readable line. */
export function printTiming(name: string, timing: Timing, bytes?: number): void {
  const perByte = bytes === undefined ? '' : `  ${(timing.bestNs / bytes).toFixed(3)} ns/byte`;
  console.log(`${name.padEnd(44)} best ${format(timing.bestNs)}  median ${format(timing.medianNs)}${perByte}`);
}

/** Warms up for two rounds and returns the number of calls per round. */
function calibrate(work: () => unknown): number {
  let calls = 0;
  const startedNs = Bun.nanoseconds();
  while (Bun.nanoseconds() - startedNs < 10 * ROUND_NS) {
    work();
    calls++;
  }
  return Math.max(1, Math.round(calls / 10));
}

function format(ns: number): string {
  return ns < 10_000 ? `${ns.toFixed(0).padStart(7)} ns` : `${(ns / 1_000).toFixed(1).padStart(7)} µs`;
}
