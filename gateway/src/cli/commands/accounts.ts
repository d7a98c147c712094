/**
 * Defines the commands `tollgate accounts …` and `tollgate topup`: flags and output. The operations are in control/.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { viewAccount } from '../../control/views.ts';
import { generateId } from '../../identity/key-format.ts';
import { administer, OutcomeUnknown, withReading } from '../administer.ts';
import { type CliEnvironment, renderFields, renderJsonLine, renderTable } from '../environment.ts';
import {
  addCapFlags,
  type CapFlags,
  capArguments,
  layeredCapsView,
  orNull,
  parseInherited,
  type RemovedLimit,
  readCapsOf,
  renderLayeredCaps,
  renderUsd,
} from '../flags.ts';

interface Flags extends CapFlags {
  readonly name?: string;
  readonly mode?: string;
  readonly markUp?: string;
  readonly timeZone?: string;
  readonly holds?: string | RemovedLimit;
  readonly json?: true;
}

const accountView = z.object({
  id: z.string(),
  name: z.string(),
  mode: z.string(),
  balance_nano_usd: z.string(),
  held_nano_usd: z.string(),
  charged_nano_usd: z.string(),
  mark_up_percent: z.string(),
  time_zone: z.string(),
  holds: z.string().nullable(),
  ...layeredCapsView,
});

const HOLDS_HELP =
  'strict: reserve the maximum cost of each request; adaptive: reserve streams in slices; inherit: use the configuration';

/** Adds `accounts`, its commands, and `topup` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  registerTopup(program, environment);
  const accounts = program.command('accounts').description('create and change accounts, which pay for requests');

  accounts
    .command('list')
    .description('list all accounts with their balances')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => print(environment, await listAccounts(environment), flags));

  for (const [verb, description] of [
    ['create', 'create an account'],
    ['set', 'change an account; omitted settings stay; applies to all of its keys at once'],
  ] as const) {
    const command = accounts
      .command(verb)
      .description(description)
      .argument('<id>', verb === 'create' ? 'account id: a-z, 0-9, - and _' : 'account id')
      .option('--name <name>', 'display name (default: the id)')
      .option('--mode <mode>', 'postpaid: spend is recorded; prepaid: requests are paid from the balance')
      .option('--mark-up <percent>', 'markup on the price in percent, such as 12.5; -10: a discount')
      .option('--time-zone <name>', 'IANA time zone of its budget windows, such as Europe/Berlin')
      .option('--holds <mode>', HOLDS_HELP, parseInherited);
    addCapFlags(command, 'for all of its keys')
      .option('--json', 'print JSON')
      .action(async (id: string, flags: Flags, self: Command) => {
        const { json: _, ...changes } = flags;
        if (verb === 'set' && Object.keys(changes).length === 0) {
          self.error('error: nothing to change; expected --name, --mode, --mark-up, --time-zone, --holds or a limit');
        }
        const given = {
          id,
          name: flags.name,
          mode: flags.mode,
          mark_up_percent: flags.markUp,
          time_zone: flags.timeZone,
          holds: orNull(flags.holds),
          ...capArguments(flags),
        };
        print(environment, [await administer(environment, `accounts.${verb}`, given)], flags);
      });
  }

  accounts
    .command('correct')
    .description('correct the balance of an account with a ledger entry')
    .argument('<id>', 'the id of the account')
    .requiredOption('--usd <amount>', 'amount to credit, in USD; negative: debit')
    .requiredOption('--note <text>', 'reason')
    .option('--id <id>', MOVEMENT_ID_HELP)
    .option('--json', 'print JSON')
    .action(
      async (
        account: string,
        { json, ...movementRequest }: Omit<MovementRequest, 'account'> & { readonly json?: true },
      ) => {
        printMovement(
          environment,
          await moveMoney(environment, 'accounts.correct', { account, ...movementRequest }),
          json === true,
        );
      },
    );
}

function print(environment: CliEnvironment, views: readonly Json[], flags: Flags): void {
  environment.stdout(flags.json ? views.map(renderJsonLine).join('') : renderAccounts(views));
}

function renderAccounts(views: readonly Json[]): string {
  const rows = views
    .map((view) => accountView.parse(view))
    .map((account) => [
      account.id,
      account.name,
      account.mode,
      renderUsd(account.balance_nano_usd),
      renderUsd(account.held_nano_usd),
      renderUsd(account.charged_nano_usd),
      `${account.mark_up_percent} %`,
      account.time_zone,
      account.holds ?? 'default',
      renderLayeredCaps(account),
    ]);
  return renderTable(
    ['ID', 'NAME', 'MODE', 'BALANCE USD', 'HELD', 'CHARGED', 'MARK-UP', 'TIME ZONE', 'HOLDS', 'LIMITS'],
    rows,
  );
}

/** The accounts in the format of `--json`. */
function listAccounts(environment: CliEnvironment): Promise<readonly Json[]> {
  return withReading(environment, async (reading) => {
    const capsOf = await readCapsOf(reading, 'account');
    const balances = new Map((await reading.readBalances()).map((balance) => [balance.account, balance]));
    return (await reading.readAccounts()).map((account) =>
      viewAccount(account, balances.get(account.id) ?? null, capsOf(account.id)),
    );
  });
}

interface TopupFlags {
  readonly usd: string;
  readonly note?: string;
  readonly id?: string;
  readonly json?: true;
}

/** Adds `topup` to the program. */
function registerTopup(program: Command, environment: CliEnvironment): void {
  program
    .command('topup')
    .description('add money to an account; prints the new balance')
    .argument('<account>', 'the id of the account')
    .requiredOption('--usd <amount>', 'amount in USD, such as 10 or 0.25')
    .option('--note <text>', 'note stored with the ledger entry')
    .option('--id <id>', MOVEMENT_ID_HELP)
    .option('--json', 'print JSON')
    .action(async (account: string, { json, ...movementRequest }: TopupFlags) => {
      printMovement(
        environment,
        await moveMoney(environment, 'accounts.topup', { account, ...movementRequest }),
        json === true,
      );
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
  { id = generateId('mov'), ...movementRequest }: MovementRequest,
): Promise<Json> {
  try {
    return await administer(environment, command, { ...movementRequest, id });
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
