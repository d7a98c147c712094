/** Owns reading what an account itself may spend and has spent of it: its own budget, and a prepaid one's balance. */
import type { AccountBudget } from '../console-api/usage-parts.ts';
import type { MoneyDesk } from '../gateway/money-desk.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';

export interface AccountMoney {
  /** Null: the account has no budget of its own. */
  readBudget(account: string): Promise<AccountBudget | null>;
  /** Nano-USD; null: postpaid. */
  readBalance(account: string): Promise<bigint | null>;
}

/** No rule of another subject is asked for. */
const NOBODY = '';

export function accountMoney(
  { limits, rules, ledger, timeZoneOf }: Pick<MoneyDesk, 'limits' | 'rules' | 'ledger' | 'timeZoneOf'>,
  { accounts }: Pick<KeyDirectory, 'accounts'>,
  nowMs: () => number,
): AccountMoney {
  return {
    async readBudget(accountId) {
      const subjects = { keyId: NOBODY, workspaceId: NOBODY, accountId, endUser: null, models: [] };
      const binding = rules
        .bindingCapsOf(subjects, timeZoneOf, nowMs())
        .find(({ subject, caps }) => subject.kind === 'account' && caps.budget !== null);
      if (binding === undefined || binding.caps.budget === null) return null;
      if ((await limits.store.readBudget(binding)) === null) await limits.seeds.seedBudget(binding);
      const state = await limits.store.readBudget(binding);
      if (state === null) throw new Error(`the budget of account ${accountId} is not known though it was read`);
      const { window, amount } = binding.caps.budget;
      return { window, limit: amount, used: state.settled, held: state.held };
    },
    async readBalance(accountId) {
      if (accounts.get(accountId)?.mode !== 'prepaid') return null;
      const balance = (await ledger.readBalances()).find(({ account }) => account === accountId);
      return balance?.available ?? 0n;
    },
  };
}
