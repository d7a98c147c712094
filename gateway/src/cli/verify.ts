/** Owns the command `tollgate verify`: its flags, what it says of the ledger, and that it fails where that does not hold. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { databasePath } from '../store/sql/connection.ts';
import { type CliEnvironment, CliFailure } from './cli-environment.ts';
import { makeVisible, renderJsonLine } from './output.ts';
import { prove, renderProblem } from './prove.ts';

/** Adds `verify` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('verify')
    .description(
      'prove the ledger: order, hashes, sums, and each charge from usage and price; beside a server or without',
    )
    .argument('[file]', 'a database file, such as a backup; else the one of the data folder')
    .option('--json', 'print JSON')
    .action((file: string | undefined, flags: { json?: true }) => {
      const { entries, calls, problem } = prove(file === undefined ? databasePath(environment.dataDir) : resolve(file));
      if (flags.json) environment.stdout(renderJsonLine({ ok: problem === null, entries, calls, problem }));
      else if (problem === null) environment.stdout(`The ledger holds: ${entries} entries, ${calls} settled calls.\n`);
      else environment.stdout(`${makeVisible(renderProblem(problem))}\n`);
      if (problem !== null) throw new CliFailure(1, '');
    });
}
