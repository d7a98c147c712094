/** Owns the resetting of the kernel's peak-memory mark, so that each measurement has a peak of its own. */
import { writeFileSync } from 'node:fs';
import { readProcessTree } from './process-usage.ts';

/**
 * Sets VmHWM of the whole tree of `rootPid` back to what is resident now (proc_pid_clear_refs(5), value 5).
 * Returns false where the kernel refuses: peaks then cover the process's whole life.
 */
export function resetPeakMemory(rootPid: number): boolean {
  try {
    for (const { pid } of readProcessTree(rootPid)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}
