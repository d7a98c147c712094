/** Recognizes a backup that was put in the place of a database whose write-ahead log remained, as after a kill. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Unavailable } from '../../ports/store-errors.ts';
import { inFolder } from './data-folder.ts';

/**
 * The byte by which a file says how its database is read.
 * https://sqlite.org/fileformat2.html#file_format_version_numbers (read 2026-11-28).
 */
const FORMAT_AT = 19;
/** Of a backup. A database that we write has 2: it gets that before its log. */
const FORMAT_WITHOUT_LOG = 1;

/**
 * Call before the process opens its first connection to the file: closing a file here would release the locks of those.
 *
 * @throws Unavailable `incompatible` where SQLite would apply the log of another database, which would end as a mixture
 * of both, or unreadable
 */
export function refuseForeignLog(path: string): void {
  const log = `${path}-wal`;
  if (sizeOf(log) === 0 || sizeOf(path) === 0 || inFolder(dirname(path), () => readFormat(path)) !== FORMAT_WITHOUT_LOG)
    return;
  throw new Unavailable(
    'incompatible',
    `${path} is a backup, but ${log} is still that of the database before it: opened together, both would be damaged. Nothing was changed. Move ${log} and ${path}-shm away, then try again.`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readFormat(path: string): number | undefined {
  const format = Buffer.alloc(1);
  const file = openSync(path, 'r');
  try {
    readSync(file, format, 0, 1, FORMAT_AT);
    return format[0];
  } finally {
    closeSync(file);
  }
}
