/** Renders the table of the files whose tests took the longest. */
import type { TimedRun } from './run-tests.ts';

const ROWS = 25;

/** Wall-clock and CPU seconds; CPU only for files that had their own process. */
export function slowestFiles(runs: readonly TimedRun[]): string[] {
  const files = runs.flatMap(({ fileSeconds, cpuSeconds }) =>
    [...fileSeconds].map(([file, seconds]) => ({ file, seconds, cpu: fileSeconds.size === 1 ? cpuSeconds : null })),
  );
  const rows = files
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, ROWS)
    .map(
      ({ file, seconds, cpu }) => `${seconds.toFixed(1).padStart(7)} ${(cpu?.toFixed(1) ?? '').padStart(7)}  ${file}`,
    );
  const total = runs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return ['seconds     cpu  file', ...rows, `${total.toFixed(0)} s of processor time in total`];
}
