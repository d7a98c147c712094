/** Owns the command `tollgate backup`: where the copy goes, and that it is proved before it gets its name. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { backupDatabase } from '../store/sql/backup-database.ts';
import { databasePath } from '../store/sql/connection.ts';
import { type CliEnvironment, CliFailure } from './cli-environment.ts';
import { renderJsonLine } from './output.ts';
import { prove, renderProblem } from './prove.ts';

/** Adds `backup` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('backup')
    .description('copy the database to a new file, consistent though a server writes to it, and prove the copy')
    .argument('<file>', 'the new file; it must not be there yet')
    .option('--json', 'print JSON')
    .action((file: string, flags: { json?: true }) => {
      const copy = resolve(file);
      const { bytes, entries, calls } = makeBackup(databasePath(environment.dataDir), copy);
      environment.stdout(
        flags.json
          ? renderJsonLine({ file: copy, bytes, entries, calls })
          : `Copied ${bytes} bytes to ${copy}; its ledger holds: ${entries} entries, ${calls} settled calls.\nKeep ${environment.dataDir}/master.key as well, in another place: without it no API key of the copy works.\n`,
      );
    });
}

function makeBackup(from: string, to: string) {
  let found = { entries: 0, calls: 0 };
  try {
    const bytes = backupDatabase(from, to, (copy) => {
      const { problem, ...counts } = prove(copy);
      if (problem !== null) throw new Error(`${renderProblem(problem)} No backup was made; see tollgate verify`);
      found = counts;
    });
    return { bytes, ...found };
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}
