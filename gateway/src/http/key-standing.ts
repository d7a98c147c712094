/** Owns what is known of a key's limits at a moment: the rules that bind it, what their budgets have left, the balance. */

import type { NanoUsd } from '../billing/money.ts';
import type { Principal } from '../identity/principal.ts';
import type { Ledger } from '../store/ledger-port.ts';
import type { BindingCaps, BudgetState, CallSubjects, LimitStore } from '../store/limits-port.ts';

export interface KeyStanding {
  /** The rules that bind every call of the key, whatever its model and end user. `budget`: null where the rule has none. */
  readonly rules: readonly { readonly binding: BindingCaps; readonly budget: BudgetState | null }[];
  /** What a prepaid account can still spend; null: postpaid. */
  readonly available: NanoUsd | null;
}

/** Rejects where the store cannot be read. */
export type ReadKeyStanding = (principal: Principal) => Promise<KeyStanding>;

/** What of the money desk a standing is read from. */
export interface StandingSources {
  bindingCapsOf(subjects: CallSubjects, nowMs: number): readonly BindingCaps[];
  /** Tells the limits what the ledger has of budgets. */
  seed(budgets: readonly BindingCaps[]): Promise<void>;
  readonly limits: Pick<LimitStore, 'readBudget'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
}

/** No model's rule and no end user's is asked for: they bind some calls of the key only. */
const NO_MODELS: readonly string[] = [];

/** A reader of standings over the limits and the ledger. `nowMs` answers the present, unix ms. */
export function createKeyStandingReader(sources: StandingSources, nowMs: () => number): ReadKeyStanding {
  return async ({ keyId, workspaceId, accountId, account }) => {
    const subjects = { keyId, workspaceId, accountId, endUser: null, models: NO_MODELS };
    const bindings = sources.bindingCapsOf(subjects, nowMs());
    const [rules, available] = await Promise.all([
      Promise.all(
        bindings.map(async (binding) => ({
          binding,
          budget: binding.caps.budget === null ? null : await readSeeded(sources, binding),
        })),
      ),
      account.mode === 'prepaid' ? readAvailable(sources, accountId) : null,
    ]);
    return { rules, available };
  };
}

async function readSeeded({ limits, seed }: StandingSources, binding: BindingCaps): Promise<BudgetState> {
  const known = await limits.readBudget(binding);
  if (known !== null) return known;
  await seed([binding]);
  const seeded = await limits.readBudget(binding);
  if (seeded === null) throw new Error(`the budget of ${binding.subject.kind} ${binding.subject.id} is not known`);
  return seeded;
}

async function readAvailable({ ledger }: StandingSources, accountId: string): Promise<NanoUsd> {
  const [balance] = await ledger.readBalances(accountId);
  if (balance === undefined) throw new Error(`the ledger knows no account ${accountId}`);
  return balance.available;
}
