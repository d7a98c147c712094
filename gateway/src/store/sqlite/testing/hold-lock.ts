/**
 * Takes the lock of the data folder given as its first argument, in a separate process, prints the result, and holds
 * the lock until it ends. For tests.
 */
import { acquireDataLock } from '../database/data-folder.ts';

const lock = acquireDataLock(process.argv[2] ?? '');
process.stdout.write(lock === 'held' ? 'held\n' : 'taken\n');
if (lock !== 'held') {
  // Keeps the garbage collector from releasing the lock.
  Bun.gc(true);
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
