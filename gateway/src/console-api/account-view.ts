/** Owns how an account and its money are shown. */
import { NO_LAYERED_CAPS } from '../control/rule-change.ts';
import { viewAccount } from '../control/views.ts';
import type { AccountBalance } from '../store/ledger-port.ts';
import type { StoredAccount } from '../store/policy-port.ts';
import { CONSOLE_ROUTES, type Reply } from './contract.ts';
import type { PolicyParts } from './policy-parts.ts';

export type ShownAccount = Reply<'GET /accounts'>['accounts'][number];

/** As the command line shows it, without its caps, which have a page of their own. */
export function showAccount(account: StoredAccount, balance: AccountBalance | null): ShownAccount {
  return CONSOLE_ROUTES['POST /accounts'].reply.parse(viewAccount(account, balance, NO_LAYERED_CAPS));
}

export async function readAccount(
  { gate, ledger }: Pick<PolicyParts, 'gate' | 'ledger'>,
  id: string,
): Promise<ShownAccount> {
  const account = gate.directory.accounts.get(id);
  if (account === undefined) throw new Error(`the account ${id} is gone`);
  return showAccount(account, (await ledger.readBalances()).find((balance) => balance.account === id) ?? null);
}
