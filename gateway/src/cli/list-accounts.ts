/** Owns reading all accounts with their money and caps, for a command that only looks. */
import type { Json } from '../control/command.ts';
import { viewAccount } from '../control/views.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { readCapsOf } from './read-caps.ts';
import { withReading } from './with-reading.ts';

/** The accounts as `--json` shows them. */
export function listAccounts(environment: CliEnvironment): Promise<readonly Json[]> {
  return withReading(environment, async (reading) => {
    const capsOf = await readCapsOf(reading, 'account');
    const balances = new Map((await reading.readBalances()).map((balance) => [balance.account, balance]));
    return (await reading.readAccounts()).map((account) =>
      viewAccount(account, balances.get(account.id) ?? null, capsOf(account.id)),
    );
  });
}
