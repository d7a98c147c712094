/**
 * Kills a process at a chosen point of its work: TOLLGATE_TEST_FAILPOINT names the point and the passing, as in
 * `before-commit:3`. For tests.
 */
import type { ReachFailpoint } from '../failpoints.ts';

/** Kills the process, as kill -9 does, at that point. Every thread counts its own passings. */
export function armedReach(): ReachFailpoint {
  const [armed = '', passing = '1'] = (process.env.TOLLGATE_TEST_FAILPOINT ?? '').split(':');
  let left = Number(passing);
  return (point) => {
    if (point !== armed) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
