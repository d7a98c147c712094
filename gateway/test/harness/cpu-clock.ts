/** Measures the processor time of the test's own process, which other load on the machine does not change. */

/**
 * Returns a function that gives the processor time in milliseconds since the start, over all threads of the process.
 */
export function startCpuClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
