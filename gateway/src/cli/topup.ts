/** Owns the command `tollgate topup`: its flags, and what is said where nobody knows whether it came through. */
import type { Command } from 'commander';
import type { Json } from '../control/command.ts';
import { generateId } from '../identity/key-format.ts';
import { administer } from './administer.ts';
import { type CliEnvironment, CliFailure } from './cli-environment.ts';
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
    .option('--id <id>', 'names the movement: the same id twice moves once')
    .option('--json', 'print JSON')
    .action(async (account: string, flags: Flags) => {
      const id = flags.id ?? generateId('mov');
      const given = { account, usd: flags.usd, note: flags.note, id };
      printMovement(environment, await topup(environment, given), flags.json === true);
    });
}

/** A server may have died between the entry and its reply: whoever asks again with the same id pays once. */
async function topup(environment: CliEnvironment, given: { readonly id: string }): Promise<Json> {
  try {
    return await administer(environment, 'accounts.topup', given);
  } catch (fault) {
    if (!(fault instanceof CliFailure) || fault.exitCode === 2) throw fault;
    throw new CliFailure(
      1,
      `${fault.message}\nTo try again safely add --id ${given.id}: should the money have come through, it does not move twice.`,
    );
  }
}
