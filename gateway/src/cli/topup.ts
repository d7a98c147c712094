/** Owns the command `tollgate topup`: its flags. */
import type { Command } from 'commander';
import type { CliEnvironment } from './cli-environment.ts';
import { MOVEMENT_ID_HELP, moveMoney } from './move-money.ts';
import { printMovement } from './print-movement.ts';

interface Flags {
  readonly usd: string;
  readonly note?: string;
  readonly id?: string;
  readonly json?: true;
}

/** Adds `topup` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('topup')
    .description('put money into an account; prints its new balance')
    .argument('<account>', 'the id of the account')
    .requiredOption('--usd <amount>', 'how much, in USD, such as 10 or 0.25')
    .option('--note <text>', 'what for; kept with the entry in the ledger')
    .option('--id <id>', MOVEMENT_ID_HELP)
    .option('--json', 'print JSON')
    .action(async (account: string, { json, ...asked }: Flags) => {
      printMovement(environment, await moveMoney(environment, 'accounts.topup', { account, ...asked }), json === true);
    });
}
