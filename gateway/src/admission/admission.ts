/**
 * Manages a call's part of the limits: acquired once, all or none, and given back once, by settling or releasing. Seeds
 * the budgets and balances that the limits do not know yet.
 */
import { CallFailure } from '../errors/call-failure.ts';
import {
  type BindingCaps,
  type LimitClaim,
  type LimitRefusal,
  type LimitStore,
  layerOf,
  type RateLimitStatus,
} from '../store/ports/limits.ts';

export interface Limits {
  readonly store: LimitStore;
  readonly seeds: MoneySeeds;
}

export type Admitted =
  | { readonly kind: 'admitted'; readonly admission: Admission }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly rateLimitStatus: RateLimitStatus };

/** Maximum rounds of seeding before it is a fault: a changed rule can drop a budget while it is seeded. */
const SEEDINGS_MAX = 5;

/**
 * Acquires all of a call's limits at once. Synchronous where the store is and all money is seeded; otherwise seeds what
 * is missing. Rejects where that cannot be read.
 */
export function admitCall(limits: Limits, claim: LimitClaim, nowMs: number): Admitted | Promise<Admitted> {
  const decision = limits.store.acquire(claim, nowMs);
  if (decision instanceof Promise || decision.kind === 'unseeded') return seedAndAdmit(limits, claim, nowMs, decision);
  return answer(limits.store, claim, decision);
}

/** As `admitCall` for a call that is not made: takes nothing. Seeds what is missing, as the call would. */
export async function previewCall(
  { store, seeds }: Limits,
  claim: LimitClaim,
  nowMs: number,
): Promise<Exclude<Decision, { kind: 'unseeded' }>> {
  for (let rounds = 0; rounds < SEEDINGS_MAX; rounds++) {
    const decision = await store.peek(claim, nowMs);
    if (decision.kind !== 'unseeded') return decision;
    await seed(seeds, decision);
  }
  throw new Error(`the limits of call ${claim.callId} are unseeded again and again`);
}

async function seed(seeds: MoneySeeds, { budgets, account }: Extract<Decision, { kind: 'unseeded' }>): Promise<void> {
  const balance = account === null ? [] : [seeds.seedBalance(account)];
  await Promise.all([...budgets.map((binding) => seeds.seedBudget(binding)), ...balance]);
}

type Decision = Awaited<ReturnType<LimitStore['acquire']>>;

async function seedAndAdmit(
  { store, seeds }: Limits,
  claim: LimitClaim,
  nowMs: number,
  first: Decision | Promise<Decision>,
): Promise<Admitted> {
  let decision = await first;
  for (let rounds = 0; decision.kind === 'unseeded'; rounds++) {
    if (rounds === SEEDINGS_MAX) throw new Error(`the limits of call ${claim.callId} are unseeded again and again`);
    await seed(seeds, decision);
    decision = await store.acquire(claim, nowMs);
  }
  return answer(store, claim, decision);
}

function answer(store: LimitStore, claim: LimitClaim, decision: Exclude<Decision, { kind: 'unseeded' }>): Admitted {
  if (decision.kind === 'refused') return decision;
  return { kind: 'admitted', admission: new Admission(store, claim, decision.rateLimitStatus) };
}

/** Holds the limits of one admitted call. */
export class Admission {
  readonly callId: string;
  readonly rateLimitStatus: RateLimitStatus;
  readonly #store: LimitStore;
  #amount: bigint;
  #ended = false;

  constructor(store: LimitStore, { callId, amount }: LimitClaim, rateLimitStatus: RateLimitStatus) {
    this.#store = store;
    this.callId = callId;
    this.rateLimitStatus = rateLimitStatus;
    this.#amount = amount;
  }

  /** Nano-USD held by the call: its claim and every extension. */
  get amount(): bigint {
    return this.#amount;
  }

  /** Holds the amount in addition, or returns false and holds nothing more. @throws Error after the call has ended. */
  extend(amount: bigint, nowMs: number): boolean | Promise<boolean> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; its limits cannot be extended`);
    const extended = this.#store.extend(this.callId, amount, nowMs);
    return extended instanceof Promise
      ? extended.then((yes) => this.#extended(yes, amount))
      : this.#extended(extended, amount);
  }

  /** The budget or balance that refuses this much more; null: none does. */
  explainExtension(amount: bigint): LimitRefusal | null | Promise<LimitRefusal | null> {
    return this.#store.explainExtension(this.callId, amount);
  }

  /** Holds as much of the amount as the limits allow, and returns that part. @throws Error after the call has ended. */
  extendUpTo(amount: bigint, nowMs: number): bigint | Promise<bigint> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; its limits cannot be extended`);
    const granted = this.#store.extendUpTo(this.callId, amount, nowMs);
    return granted instanceof Promise ? granted.then((part) => this.#granted(part)) : this.#granted(granted);
  }

  /**
   * Settles the call's cost and tokens: at most what it holds; the rest is given back. False where its lease had
   * expired and everything was given back before.
   *
   * @throws Error where it was settled or released before: a call ends once.
   */
  settle(charged: bigint, tokens: number, nowMs: number): boolean | Promise<boolean> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; it cannot be settled again`);
    const released = this.#store.release(this.callId, charged, tokens, nowMs);
    // If the store throws, the call stays open.
    this.#ended = true;
    return released;
  }

  /**
   * Leaves its part of budgets and the balance to the later settlement of the call, and gives back its slots.
   *
   * @throws Error where it was settled or released before.
   */
  leave(nowMs: number): void | Promise<void> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; it cannot be left`);
    this.#ended = true;
    return this.#store.detach(this.callId, nowMs);
  }

  /** Gives everything back for a call without a result. Does nothing and returns false where the call has ended. */
  releaseUnlessSettled(nowMs: number): boolean | Promise<boolean> {
    return this.#ended ? false : this.settle(0n, 0, nowMs);
  }

  #granted(part: bigint): bigint {
    this.#amount += part;
    return part;
  }

  #extended(yes: boolean, amount: bigint): boolean {
    if (yes) this.#amount += amount;
    return yes;
  }
}

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
interface MoneySeeds {
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
    const seeded = running.get(name);
    if (seeded !== undefined) return seeded;
    const seeding = seed().finally(() => running.delete(name));
    running.set(name, seeding);
    return seeding;
  };
  const seedBudgetAhead = (binding: BindingCaps) =>
    once(
      `${layerOf(binding.subject)} ${binding.subject.kind} ${binding.caps.budget?.window} ${binding.windowStartMs} ${binding.subject.id}`,
      async () => {
        const seeded = store.beginSeed(binding);
        const exceptCalls = seeded instanceof Promise ? await seeded : seeded;
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
