/** A process that takes the lock of the data folder in its first argument, says how that went, and holds it until it ends. For tests. */
import { acquireDataLock } from '../database/data-folder.ts';

const lock = acquireDataLock(process.argv[2] ?? '');
process.stdout.write(lock === 'held' ? 'held\n' : 'taken\n');
if (lock !== 'held') {
  // The garbage collector must not let go of the lock either.
  Bun.gc(true);
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
