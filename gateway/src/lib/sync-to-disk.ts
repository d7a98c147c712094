/** Forces a file, or the names in a folder, to the disk. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns once what was written to the file is durable; of a folder, which files it holds. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
