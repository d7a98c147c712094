/** Serves the operator's routes about accounts: lists, creates and changes them, tops up balances and corrects them. */

import { NO_LAYERED_CAPS } from '../../control/policy-changes.ts';
import { viewAccount } from '../../control/views.ts';
import type { AccountBalance } from '../../store/ports/ledger.ts';
import type { StoredAccount } from '../../store/ports/policy.ts';
import { CONSOLE_ROUTES, type Reply } from '../contract/contract.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';
import { findAccount } from '../kernel/find-resource.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { runCommand } from '../kernel/run-command.ts';
import type { PolicyParts } from './policy-parts.ts';

export function accountHandlers(
  parts: PolicyParts,
): Handlers<
  | 'GET /accounts'
  | 'POST /accounts'
  | 'PATCH /accounts/{account}'
  | 'POST /accounts/{account}/topup'
  | 'POST /accounts/{account}/correct'
> {
  const { deps, ledger, control } = parts;
  return {
    'GET /accounts': async () => {
      const balances = new Map((await ledger.readBalances()).map((balance) => [balance.account, balance]));
      const accounts = [...deps.directory.accounts.values()];
      return { accounts: accounts.map((account) => showAccount(account, balances.get(account.id) ?? null)) };
    },
    'POST /accounts': async (call) => {
      const { id } = call.body;
      if (deps.directory.accounts.has(id)) {
        throw new ConsoleFailure('conflict', `id: the account ${id} already exists; change it, or choose another id`, {
          member: 'id',
        });
      }
      await runCommand(control, call, 'accounts.create', call.body);
      return readAccount(parts, id);
    },
    'PATCH /accounts/{account}': async (call) => {
      const { id } = findAccount(parts, call.tenancy);
      await runCommand(control, call, 'accounts.set', { id, ...call.body });
      return readAccount(parts, id);
    },
    'POST /accounts/{account}/topup': async (call) => {
      const account = findAccount(parts, call.tenancy).id;
      await runCommand(control, call, 'accounts.topup', { account, ...call.body });
      return readAccount(parts, account);
    },
    'POST /accounts/{account}/correct': async (call) => {
      const account = findAccount(parts, call.tenancy).id;
      await runCommand(control, call, 'accounts.correct', { account, ...call.body });
      return readAccount(parts, account);
    },
  };
}

type ShownAccount = Reply<'GET /accounts'>['accounts'][number];

/** The account as the command line shows it, without its caps, which have their own page. */
function showAccount(account: StoredAccount, balance: AccountBalance | null): ShownAccount {
  return CONSOLE_ROUTES['POST /accounts'].reply.parse(viewAccount(account, balance, NO_LAYERED_CAPS));
}

export async function readAccount(
  { deps, ledger }: Pick<PolicyParts, 'deps' | 'ledger'>,
  id: string,
): Promise<ShownAccount> {
  const account = deps.directory.accounts.get(id);
  if (account === undefined) throw new Error(`the account ${id} is gone`);
  return showAccount(account, (await ledger.readBalances()).find((balance) => balance.account === id) ?? null);
}
