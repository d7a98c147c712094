/** Reads how much memory this process holds. */
import { lowestFreeDescriptor } from './open-files.ts';

let lastBytes = 0;

/** Resident memory in bytes; the reading before, where no file descriptor is left for one: the system keeps it in a file. */
export function residentBytes(): number {
  if (lowestFreeDescriptor() !== null) lastBytes = process.memoryUsage.rss();
  return lastBytes;
}
