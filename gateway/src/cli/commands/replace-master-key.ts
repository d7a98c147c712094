/** Defines the command `tollgate replace-master-key`: creates a new master key for a data folder that lost its own. */
import type { Command } from 'commander';
import { acquireDataLock } from '../../store/sqlite/database/data-folder.ts';
import { type ReplacedMasterKey, replaceMasterKey } from '../../store/sqlite/database/master-key.ts';
import { type CliEnvironment, CliFailure, renderJsonLine } from '../environment.ts';

/** Adds the command to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('replace-master-key')
    .description('create a new master key for a data folder that lost its own: every API key then needs a new secret')
    .requiredOption('--lost', 'confirm that the master key is lost and no copy exists')
    .option('--json', 'print JSON')
    .action((flags: { json?: true }) => {
      const replaced = replace(environment);
      environment.stdout(
        flags.json === true
          ? renderJsonLine({ moved_to: replaced.movedTo, keys: replaced.keys })
          : renderReplaced(replaced),
      );
    });
}

function replace({ dataDir, nowMs }: CliEnvironment): ReplacedMasterKey {
  const lock = acquireDataLock(dataDir);
  if (lock === 'held') {
    throw new CliFailure(1, `A server runs on the data folder ${dataDir}: its master key is not lost. Stop it first.`);
  }
  try {
    return replaceMasterKey(dataDir, nowMs());
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  } finally {
    lock.release();
  }
}

function renderReplaced({ movedTo, keys }: ReplacedMasterKey): string {
  const kept = movedTo === null ? '' : `The previous file is now ${movedTo}.\n`;
  return `${kept}The data folder has a new master key. What the lost one protected cannot be read again:
- ${keys} API ${keys === 1 ? 'key does' : 'keys do'} not work. Give each a new secret: tollgate keys rotate ID --grace 0s
- Credentials of providers that were entered in the console: enter them again.
- Second factors and sessions of the console: tollgate reset-password EMAIL --without-second-factor
- Kept prompts and responses, and stored answers of idempotency keys, are lost.
The ledger, the records and all limits are unchanged. Keep a copy of master.key apart from your backups.
`;
}
