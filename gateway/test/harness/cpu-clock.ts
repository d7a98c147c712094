/** Measures the processor time of the test's own process, which other work on the machine does not change as it does the time of day. */

/** Answers the milliseconds of processor time since it was started, over all threads of the process. */
export function startCpuClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
