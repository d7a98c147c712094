/** Flushes a file, or the names in a folder, to the disk. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns once the content of the file is durable; for a folder, its list of files. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
