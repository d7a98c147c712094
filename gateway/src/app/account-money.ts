/** Owns reading what an account itself may spend and has spent of it: its own budget, and a prepaid one's balance. */
import type { AccountBudget } from '../console-api/usage-parts.ts';
import type { MoneyDesk } from '../gateway/money-desk.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { BindingCaps } from '../store/limits-port.ts';

export interface AccountMoney {
  /** Null: the account has no budget of its own. */
  readBudget(account: string): Promise<AccountBudget | null>;
  /** Nano-USD; null: postpaid. */
  readBalance(account: string): Promise<bigint | null>;
}

/** No rule of another subject is asked for. */
const NOBODY = '';

export function accountMoney(
  { limits, rules, ledger, budgetZoneOf }: Pick<MoneyDesk, 'limits' | 'rules' | 'ledger' | 'budgetZoneOf'>,
  { accounts }: Pick<KeyDirectory, 'accounts'>,
  nowMs: () => number,
): AccountMoney {
  return {
    async readBudget(accountId) {
      const subjects = { keyId: NOBODY, workspaceId: NOBODY, accountId, endUser: null, models: [] };
      const bindings = rules
        .bindingCapsOf(subjects, budgetZoneOf, nowMs())
        .filter(({ subject, caps }) => subject.kind === 'account' && caps.budget !== null);
      const budgets = await Promise.all(bindings.map((binding) => readOne(limits, binding)));
      // Of the operator's budget and the account's own, the one that has less left decides.
      return budgets.reduce<AccountBudget | null>(
        (tightest, one) => (tightest === null || leftOf(one) < leftOf(tightest) ? one : tightest),
        null,
      );
    },
    async readBalance(accountId) {
      if (accounts.get(accountId)?.mode !== 'prepaid') return null;
      const balance = (await ledger.readBalances()).find(({ account }) => account === accountId);
      return balance?.available ?? 0n;
    },
  };
}

async function readOne({ store, seeds }: MoneyDesk['limits'], binding: BindingCaps): Promise<AccountBudget> {
  const { caps, subject } = binding;
  if ((await store.readBudget(binding)) === null) await seeds.seedBudget(binding);
  const state = await store.readBudget(binding);
  if (state === null || caps.budget === null)
    throw new Error(`the budget of account ${subject.id} is not known though it was read`);
  return { window: caps.budget.window, limit: caps.budget.amount, used: state.settled, held: state.held };
}

function leftOf({ limit, used, held }: AccountBudget): bigint {
  return limit - used - held;
}
