/** Resets the kernel's peak-memory mark, so that each measurement has its own peak. */
import { writeFileSync } from 'node:fs';
import { readProcessTree } from './process-usage.ts';

/**
 * Sets VmHWM of the whole tree of `rootPid` to its current resident size (proc_pid_clear_refs(5), value 5). Returns
 * false when the kernel refuses: peaks then cover the process's whole life.
 */
export function resetPeakMemory(rootPid: number): boolean {
  try {
    for (const { pid } of readProcessTree(rootPid)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}
