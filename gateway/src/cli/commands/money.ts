/** Defines the command `tollgate topup`, and applies and prints movements of money. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { generateId } from '../../identity/key-format.ts';
import { administer, OutcomeUnknown } from '../administer.ts';
import { renderUsd } from '../caps.ts';
import { type CliEnvironment, renderFields, renderJsonLine } from '../environment.ts';

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
    .description('add money to an account; prints the new balance')
    .argument('<account>', 'the id of the account')
    .requiredOption('--usd <amount>', 'amount in USD, such as 10 or 0.25')
    .option('--note <text>', 'note stored with the ledger entry')
    .option('--id <id>', MOVEMENT_ID_HELP)
    .option('--json', 'print JSON')
    .action(async (account: string, { json, ...asked }: Flags) => {
      printMovement(environment, await moveMoney(environment, 'accounts.topup', { account, ...asked }), json === true);
    });
}

export const MOVEMENT_ID_HELP = 'id of the movement; the same id twice moves the money once';

export interface MovementRequest {
  readonly account: string;
  readonly usd: string;
  readonly note?: string | undefined;
  readonly id?: string | undefined;
}

/** Repeating a request with the same id moves the money once. @throws CliFailure as `administer` does. */
export async function moveMoney(
  environment: CliEnvironment,
  command: 'accounts.topup' | 'accounts.correct',
  { id = generateId('mov'), ...asked }: MovementRequest,
): Promise<Json> {
  try {
    return await administer(environment, command, { ...asked, id });
  } catch (fault) {
    if (!(fault instanceof OutcomeUnknown)) throw fault;
    throw new OutcomeUnknown(1, `${fault.message}\nTo retry safely, add --id ${id}: the money is not moved twice.`);
  }
}

/** A view of a movement; see control/views.ts. */
const movementView = z.object({
  id: z.string(),
  account: z.string(),
  moved_nano_usd: z.string(),
  note: z.string().nullable(),
  balance_nano_usd: z.string(),
  held_nano_usd: z.string(),
});

/** Prints a movement and the balance after it. */
export function printMovement(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderMovement(movementView.parse(result)));
}

function renderMovement(movement: z.infer<typeof movementView>): string {
  const fields = renderFields([
    ['movement', movement.id],
    ['moved', `${renderUsd(movement.moved_nano_usd)} USD`],
    ['balance', `${renderUsd(movement.balance_nano_usd)} USD`],
    ['held', `${renderUsd(movement.held_nano_usd)} USD`],
    ['note', movement.note ?? '-'],
  ]);
  const head = movement.moved_nano_usd === '0' ? 'This movement was recorded earlier; nothing was moved now.\n' : '';
  return `${head}Account ${movement.account}:\n${fields}`;
}
