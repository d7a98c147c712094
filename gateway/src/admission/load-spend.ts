/**
 * Loads settled spend and available balances from the ledger into the limits. Reads each once, however many calls wait
 * for it, and bounds the wait of each call.
 */
import { CallFailure } from '../errors/call-failure.ts';
import { type BindingCaps, type LimitStore, layerOf } from '../store/ports/limits.ts';

/** Reads durable state. Nano-USD. */
export interface MoneySource {
  /** Charges of the subject's calls that arrived within the window, except the calls given. */
  readSettled(binding: BindingCaps, exceptCalls: readonly string[]): Promise<bigint>;
  /** The account's balance without its open holds. */
  readAvailable(account: string): Promise<bigint>;
}

/**
 * Each resolves once the store is seeded and rejects where the ledger cannot be read; the next call reads again. Where
 * reading exceeds the time that a call may wait, it rejects with a CallFailure `store_unavailable` and reading continues for
 * the next call.
 */
export interface MoneySeeds {
  seedBudget(binding: BindingCaps): Promise<void>;
  seedBalance(account: string): Promise<void>;
  /** As `seedBudget`, for when no call waits: resolves however long it takes. */
  seedBudgetAhead(binding: BindingCaps): Promise<void>;
}

/**
 * No dependency may keep a call waiting for longer than 250 ms (reliability design, "Promises"). Counted in ticks, to
 * measure the store's time rather than that of a process too busy to see its answer: an event-loop turn of any length
 * is one tick.
 */
const TICK_MS = 25;
const TICKS_MAX = 10;

/** `ticksMax`: changed only in tests. */
export function createMoneySeeds(store: LimitStore, source: MoneySource, ticksMax: number = TICKS_MAX): MoneySeeds {
  const running = new Map<string, Promise<void>>();
  const once = (name: string, seed: () => Promise<void>): Promise<void> => {
    const begun = running.get(name);
    if (begun !== undefined) return begun;
    const seeding = seed().finally(() => running.delete(name));
    running.set(name, seeding);
    return seeding;
  };
  const seedBudgetAhead = (binding: BindingCaps) =>
    once(
      `${layerOf(binding.subject)} ${binding.subject.kind} ${binding.caps.budget?.window} ${binding.windowStartMs} ${binding.subject.id}`,
      async () => {
        const begun = store.beginSeed(binding);
        const exceptCalls = begun instanceof Promise ? await begun : begun;
        await store.seedBudget(binding, await source.readSettled(binding, exceptCalls));
      },
    );
  return {
    seedBudgetAhead,
    seedBudget: (binding) =>
      waitFor(seedBudgetAhead(binding), `what the ${binding.subject.kind} of this call has spent`, ticksMax),
    seedBalance: (account) =>
      waitFor(
        once(`balance ${account}`, async () => store.seedBalance(account, await source.readAvailable(account))),
        'the balance of the account of this call',
        ticksMax,
      ),
  };
}

async function waitFor(seeding: Promise<void>, what: string, ticksMax: number): Promise<void> {
  let ticks = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      ticks += 1;
      if (ticks < ticksMax) return;
      reject(new CallFailure('store_unavailable', `${what} is still being read; try again`, { retryAfterSeconds: 1 }));
    }, TICK_MS);
  });
  try {
    await Promise.race([seeding, tooLong]);
  } finally {
    clearInterval(timer);
  }
}
