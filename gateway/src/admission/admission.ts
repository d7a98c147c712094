/**
 * Owns a call's part of the limits: taken once, all or none, and given back once, by settling or releasing. Knows no limit's
 * arithmetic, and whether memory or a server keeps them.
 */
import type { LimitClaim, LimitRefusal, LimitStore, Standing } from '../store/ports/limits.ts';
import type { MoneySeeds } from './money-seeds.ts';

export interface Limits {
  readonly store: LimitStore;
  readonly seeds: MoneySeeds;
}

export type Admitted =
  | { readonly kind: 'admitted'; readonly admission: Admission }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly standing: Standing };

/** Rounds of seeding before it is a fault: a budget can be forgotten, by a changed rule, while it is seeded. */
const SEEDINGS_MAX = 5;

/**
 * Asks for all of a call's limits at once. Answers without a turn of the event loop where the store does and all money is
 * known; else seeds what is not. Rejects where that cannot be read.
 */
export function admitCall(limits: Limits, claim: LimitClaim, nowMs: number): Admitted | Promise<Admitted> {
  const decision = limits.store.acquire(claim, nowMs);
  if (decision instanceof Promise || decision.kind === 'unseeded') return seedAndAdmit(limits, claim, nowMs, decision);
  return answer(limits.store, claim, decision);
}

/** As `admitCall`, of a call that is not made: nothing is taken. Seeds what is not known, as the call would. */
export async function foreseeCall(
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
  return { kind: 'admitted', admission: new Admission(store, claim, decision.standing) };
}

/** The one owner of what an admitted call holds. */
export class Admission {
  readonly callId: string;
  readonly standing: Standing;
  readonly #store: LimitStore;
  #amount: bigint;
  #ended = false;

  constructor(store: LimitStore, { callId, amount }: LimitClaim, standing: Standing) {
    this.#store = store;
    this.callId = callId;
    this.standing = standing;
    this.#amount = amount;
  }

  /** Nano-USD that the call holds: its claim and every extension. */
  get amount(): bigint {
    return this.#amount;
  }

  /** Holds more money, or (false) nothing more. @throws Error after the end. */
  extend(amount: bigint, nowMs: number): boolean | Promise<boolean> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; its limits cannot be extended`);
    const extended = this.#store.extend(this.callId, amount, nowMs);
    return extended instanceof Promise
      ? extended.then((yes) => this.#extended(yes, amount))
      : this.#extended(extended, amount);
  }

  /** Which budget or balance refuses so much more; null: none does. */
  explainExtension(amount: bigint): LimitRefusal | null | Promise<LimitRefusal | null> {
    return this.#store.explainExtension(this.callId, amount);
  }

  /** Holds as much of the amount as its limits allow; answers how much. @throws Error after the end. */
  extendUpTo(amount: bigint, nowMs: number): bigint | Promise<bigint> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; its limits cannot be extended`);
    const granted = this.#store.extendUpTo(this.callId, amount, nowMs);
    return granted instanceof Promise ? granted.then((part) => this.#granted(part)) : this.#granted(granted);
  }

  /**
   * The call has cost and used so much: at most what it holds; the rest is given back. False where its lease had passed and
   * all was given back before.
   *
   * @throws Error where it was settled or released before: a call has one end.
   */
  settle(charged: bigint, tokens: number, nowMs: number): boolean | Promise<boolean> {
    if (this.#ended) throw new Error(`call ${this.callId} has ended; it cannot be settled again`);
    const released = this.#store.release(this.callId, charged, tokens, nowMs);
    // A charge that the store does not take leaves the call as it was.
    this.#ended = true;
    return released;
  }

  /** The way out of a call that came to nothing: gives all back. Nothing, and false, where the call has ended. */
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
