/**
 * Owns how the limits learn what the ledger has of a budget or a balance: read once however many calls wait for it. Knows no
 * ledger, only how to ask for it.
 */
import type { BindingCaps, LimitStore } from '../store/limits-port.ts';

/** Reads of what is durable. Nano-USD. */
export interface MoneySource {
  /** What calls of the subject that arrived within the window have been charged. */
  readSettled(binding: BindingCaps): Promise<bigint>;
  /** What the account has beside its open holds. */
  readAvailable(account: string): Promise<bigint>;
}

/** Each resolves once the store knows, and rejects where it could not be read; the next one asks anew. */
export interface MoneySeeds {
  seedBudget(binding: BindingCaps): Promise<void>;
  seedBalance(account: string): Promise<void>;
}

export function createMoneySeeds(store: LimitStore, source: MoneySource): MoneySeeds {
  const running = new Map<string, Promise<void>>();
  const once = (name: string, seed: () => Promise<void>): Promise<void> => {
    const begun = running.get(name);
    if (begun !== undefined) return begun;
    const seeding = seed().finally(() => running.delete(name));
    running.set(name, seeding);
    return seeding;
  };
  return {
    seedBudget: (binding) =>
      once(
        `${binding.subject.kind} ${binding.caps.budget?.window} ${binding.windowStartMs} ${binding.subject.id}`,
        async () => store.seedBudget(binding, await source.readSettled(binding)),
      ),
    seedBalance: (account) =>
      once(`balance ${account}`, async () => store.seedBalance(account, await source.readAvailable(account))),
  };
}
