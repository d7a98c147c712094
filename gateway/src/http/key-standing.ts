/** Owns what is known of a key at a moment: the rules that bind it with what is used of them, the balance, its own usage. */

import type { NanoUsd } from '../billing/money.ts';
import type { Principal } from '../identity/principal.ts';
import type { Ledger } from '../store/ledger-port.ts';
import type { BindingCaps, BudgetState, CallSubjects, CapsUse, LimitStore } from '../store/limits-port.ts';
import type { KeyUsage, ReadKeyUsage } from './key-usage.ts';

/** A rule with what is used of it; when its rates are whole again is unix ms. `budget`: null where it has none. */
export interface RuleStanding {
  readonly binding: BindingCaps;
  readonly use: CapsUse;
  readonly budget: BudgetState | null;
}

export interface KeyStanding {
  /** The rules that bind every call of the key, whatever its model and end user. */
  readonly rules: readonly RuleStanding[];
  /** What a prepaid account can still spend; null: postpaid. */
  readonly available: NanoUsd | null;
  /** Of the key alone; null: it could not be summed up in time. */
  readonly usage: KeyUsage | null;
}

/** Rejects where the store cannot be read. */
export type ReadKeyStanding = (principal: Principal) => Promise<KeyStanding>;

/** What of the money desk a standing is read from. */
export interface StandingSources {
  bindingCapsOf(subjects: CallSubjects, nowMs: number): readonly BindingCaps[];
  /** Tells the limits what the ledger has of budgets. */
  seed(budgets: readonly BindingCaps[]): Promise<void>;
  readonly limits: Pick<LimitStore, 'readBudget' | 'readUse'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly readUsage: ReadKeyUsage;
}

/** The present, unix ms: by the clock of windows and of callers, and by that of the limits. */
interface Clocks {
  nowMs(): number;
  steadyNowMs(): number;
}

/** No model's rule and no end user's is asked for: they bind some calls of the key only. */
const NO_MODELS: readonly string[] = [];

/** A reader of standings over the limits, the ledger and the records. */
export function createKeyStandingReader(sources: StandingSources, clocks: Clocks): ReadKeyStanding {
  return async (principal) => {
    const { keyId, workspaceId, accountId, account } = principal;
    const subjects = { keyId, workspaceId, accountId, endUser: null, models: NO_MODELS };
    const bindings = sources
      .bindingCapsOf(subjects, clocks.nowMs())
      .filter(({ subject }) => subject.kind !== 'end_user');
    const [rules, available, usage] = await Promise.all([
      Promise.all(bindings.map((binding) => readRule(sources, binding, clocks))),
      account.mode === 'prepaid' ? readAvailable(sources, accountId) : null,
      sources.readUsage(principal),
    ]);
    return { rules, available, usage };
  };
}

async function readRule(sources: StandingSources, binding: BindingCaps, clocks: Clocks): Promise<RuleStanding> {
  const budget = binding.caps.budget === null ? null : await readSeeded(sources, binding);
  const steadyMs = clocks.steadyNowMs();
  const { requests, tokens, running } = await sources.limits.readUse(binding, steadyMs);
  const aheadMs = clocks.nowMs() - steadyMs;
  return { binding, budget, use: { requests: shift(requests, aheadMs), tokens: shift(tokens, aheadMs), running } };
}

function shift(use: CapsUse['requests'], aheadMs: number): CapsUse['requests'] {
  return use === null ? null : { used: use.used, wholeAtMs: Math.ceil(use.wholeAtMs + aheadMs) };
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
