/**
 * Starts the program of a single binary. Part of what the launcher sets can only be set before Bun starts: the binary
 * executes itself once, as the same process, with that environment.
 */
import { serverEnvironment } from '../../bin/server-environment.cjs';

/** Holds this process's id once it has the environment; a child inherits another's, which does not count. */
const EXECUTED = 'TOLLGATE_EXECUTED_BY';

if (process.env[EXECUTED] === `${process.pid}`) {
  delete process.env[EXECUTED];
  await import('../../src/main.ts');
} else {
  const environment = { ...serverEnvironment(process.env), [EXECUTED]: `${process.pid}` };
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment);
  throw new Error('this system cannot execute the program again with its environment');
}
