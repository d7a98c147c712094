/**
 * Stores the limits of one process in memory: applies caps to calls, tracks what running calls hold, and gives it back
 * once per call. Settled spend comes from the ledger by seeding and may be dropped.
 */

import { type Bucket, followClock, levelAt, usedOf, wholeAfterMs } from '../../admission/gcra.ts';
import {
  type BindingCaps,
  type BudgetMark,
  type BudgetReached,
  type Caps,
  type CapsUse,
  EVERY_END_USER,
  type LimitClaim,
  type LimitDecision,
  type LimitRefusal,
  type LimitStore,
  type ResumedClaim,
  type Subject,
} from '../ports/limits.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';
import {
  type BudgetBinding,
  beginWindow,
  capWindow,
  findWindow,
  forgetWindow,
  hasBudget,
  marksOfRefusal,
  newMarks,
  roomOf,
  seedWindow,
  type WindowState,
} from './budget-window.ts';
import {
  type Balance,
  countsIn,
  coverable,
  detachHolding,
  evaluateClaim,
  type Holding,
  holdMore,
  joinBudget,
  type Place,
  readRateLimitStatus,
  refuseBalance,
  refuseExtension,
  resumeHolding,
  returnUnused,
  roomWanted,
  takeAll,
} from './evaluate-claim.ts';
import { createSubjectBook, type SubjectBook, type SubjectState } from './subject-book.ts';

interface Settings {
  /** Lease of a call: one not released by then counts as lost. Longer than the longest call. Read for each call. */
  readonly leaseMs: number;
  /** Called for each mark that a budget reaches. Must not throw. */
  onBudgetReached(reached: BudgetReached): void;
}

export interface MemoryLimits extends LimitStore {
  /** Synchronous, like all methods here. */
  acquire(claim: LimitClaim, nowMs: number): LimitDecision;
  beginSeed(binding: BindingCaps): readonly string[];
  peek(claim: LimitClaim, nowMs: number): LimitDecision;
  extend(callId: string, amount: bigint, nowMs: number): boolean;
  explainExtension(callId: string, amount: bigint): LimitRefusal | null;
  extendUpTo(callId: string, amount: bigint, nowMs: number): bigint;
  release(callId: string, charged: bigint, tokens: number, nowMs: number): boolean;
  detach(callId: string, nowMs: number): void;
  resume(claim: ResumedClaim): void;
  sweep(nowMs: number): number;
  /** Number of stored subjects and calls, both bounded. */
  size(): { readonly subjects: number; readonly calls: number };
}

const IDLE_LOOKS_PER_SWEEP = 10_000;

/** Creates an empty store: every budget and balance must be seeded before it admits calls. */
export function createMemoryLimits(settings: Settings): MemoryLimits {
  const book = createSubjectBook();
  const balances = new Map<string, Balance>();
  /**
   * Calls come and go, and a Map retains deleted entries for a while (see lib/open-set.ts); a holding is therefore small
   * and has no reference to its call.
   */
  const holdings = new Map<string, Holding>();

  function reportMarks(state: WindowState, marks: readonly BudgetMark[]): void {
    const { subject, window, startMs: windowStartMs, settled, cap: amount } = state;
    for (const mark of marks) settings.onBudgetReached({ subject, window, windowStartMs, mark, settled, amount });
  }

  function end(holding: Holding, charged: bigint, tokens: number | null, nowMs: number): void {
    returnUnused(holding, charged, tokens, nowMs);
    for (const budget of holding.budgets) reportMarks(budget, newMarks(budget));
  }

  /** The decision on the claim; null: it may take everything it requests. */
  function decide(
    claim: LimitClaim,
    places: readonly Place[],
    nowMs: number,
  ): Exclude<LimitDecision, { kind: 'admitted' }> | null {
    const { prepaidAccount: account, amount } = claim;
    const balance = balanceOf(account);
    const weighed = evaluateClaim(places, claim, nowMs);
    const lacking = account !== null && balance?.known === true && amount > 0n && balance.available < roomWanted(claim);
    const refusal =
      lacking && weighed.refusal?.retryAfterMs !== null
        ? refuseBalance(account, balance.available, roomWanted(claim))
        : weighed.refusal;
    if (refusal !== null) return { kind: 'refused', refusal, rateLimitStatus: readRateLimitStatus(places, nowMs) };
    const unseededAccount = balance?.known === true ? null : account;
    if (weighed.unseeded.length > 0 || unseededAccount !== null)
      return { kind: 'unseeded', budgets: weighed.unseeded, account: unseededAccount };
    return null;
  }

  function balanceOf(account: string | null): Balance | null {
    return account === null ? null : (balances.get(account) ?? null);
  }

  return {
    acquire(claim, nowMs) {
      checkAmounts(claim.amount, claim.tokens);
      if (holdings.has(claim.callId))
        throw new ConstraintViolation('conflict', `call ${claim.callId} holds its limits already`);
      const places = openPlaces(book, claim, nowMs);
      const decision = decide(claim, places, nowMs);
      if (decision !== null) {
        if (decision.kind === 'unseeded') return decision;
        for (const { budget } of places) if (budget !== null) reportMarks(budget, marksOfRefusal(budget, claim.amount));
        return decision;
      }
      const balance = balanceOf(claim.prepaidAccount);
      holdings.set(claim.callId, takeAll(places, balance, claim, nowMs, nowMs + settings.leaseMs));
      return { kind: 'admitted', rateLimitStatus: readRateLimitStatus(places, nowMs) };
    },
    peek(claim, nowMs) {
      checkAmounts(claim.amount, claim.tokens);
      const places = openPlaces(book, claim, nowMs);
      return decide(claim, places, nowMs) ?? { kind: 'admitted', rateLimitStatus: readRateLimitStatus(places, nowMs) };
    },
    extend(callId, amount) {
      checkAmounts(amount, 0);
      const holding = holdings.get(callId);
      if (holding === undefined || coverable(holding, amount) < amount) return false;
      holdMore(holding, amount);
      return true;
    },
    explainExtension(callId, amount) {
      const holding = holdings.get(callId);
      if (holding === undefined) return null;
      const { balance, budgets, claim } = holding;
      let room = amount;
      let refusal: LimitRefusal | null = null;
      if (balance !== null && balance.available < room) {
        room = balance.available;
        refusal = refuseBalance(claim.subjects.accountId, balance.available, amount);
      }
      for (const budget of budgets) {
        if (roomOf(budget) >= room) continue;
        room = roomOf(budget);
        refusal = refuseExtension(budget, amount);
      }
      return refusal;
    },
    extendUpTo(callId, amount) {
      checkAmounts(amount, 0);
      const holding = holdings.get(callId);
      if (holding === undefined) return 0n;
      const granted = coverable(holding, amount);
      holdMore(holding, granted);
      return granted;
    },
    release(callId, charged, tokens, nowMs) {
      checkAmounts(charged, tokens);
      const holding = holdings.get(callId);
      if (holding === undefined) return false;
      const isBound = holding.balance !== null || holding.budgets.length > 0;
      if (isBound && charged > holding.amount) {
        throw new ConstraintViolation(
          'invalid',
          `call ${callId}: found a charge of ${charged} nano-USD, expected at most the ${holding.amount} that it holds; extend it first`,
        );
      }
      holdings.delete(callId);
      end(holding, charged, tokens, nowMs);
      return true;
    },
    detach(callId, nowMs) {
      const holding = holdings.get(callId);
      if (holding !== undefined) holdings.set(callId, detachHolding(holding, nowMs));
    },
    resume({ amount, ...claim }) {
      checkAmounts(amount, 0);
      const { callId, prepaidAccount } = claim;
      if (holdings.has(callId)) throw new ConstraintViolation('conflict', `call ${callId} holds its limits already`);
      let balance = balanceOf(prepaidAccount);
      if (balance === null && prepaidAccount !== null) {
        balance = { available: 0n, known: false };
        balances.set(prepaidAccount, balance);
      }
      holdings.set(callId, resumeHolding({ ...claim, amount, binding: [], tokens: 0 }, balance));
    },
    credit(account, amount) {
      const balance = balances.get(account);
      if (balance?.known === true) balance.available += amount;
    },
    beginSeed(binding) {
      requireBudget(binding);
      const state = beginWindow(book.expect(binding.subject).windows, binding);
      if (state === null) return [];
      const counted: string[] = [];
      for (const [callId, holding] of holdings) {
        if (!countsIn(holding, state)) continue;
        joinBudget(holding, state);
        counted.push(callId);
      }
      return counted;
    },
    seedBudget(binding, settled) {
      requireBudget(binding);
      seedWindow(book.expect(binding.subject).windows, binding, settled);
    },
    seedBalance(account, available) {
      const balance = balances.get(account);
      if (balance === undefined) balances.set(account, { available, known: true });
      else if (!balance.known) Object.assign(balance, { available, known: true });
    },
    forgetBudget(subject) {
      for (const { windows } of meantBy(book, subject)) for (const window of windows) forgetWindow(window);
    },
    capBudget(subject, amount, atMs) {
      for (const window of book.find(subject)?.windows ?? []) {
        capWindow(window, amount);
        if (window.known && (window.endMs === null || atMs < window.endMs)) reportMarks(window, newMarks(window));
      }
    },
    forgetBalance(account) {
      const balance = balances.get(account);
      if (balance !== undefined) balance.known = false;
    },
    readBudget(binding) {
      if (!hasBudget(binding)) return null;
      const state = book.find(binding.subject);
      const found = state === undefined ? undefined : findWindow(state.windows, binding);
      return found?.known === true ? { settled: found.settled, held: found.held } : null;
    },
    readUse: ({ subject, caps }, nowMs) => readUse(book.find(subject), caps, nowMs),
    sweep(nowMs) {
      let lost = 0;
      for (const [callId, holding] of holdings) {
        if (holding.leaseEndsMs > nowMs) continue;
        holdings.delete(callId);
        end(holding, 0n, null, nowMs);
        lost += 1;
      }
      book.forgetIdle(nowMs, IDLE_LOOKS_PER_SWEEP);
      return lost;
    },
    size: () => ({ subjects: book.size(), calls: holdings.size }),
  };
}

function openPlaces(book: SubjectBook, { binding }: LimitClaim, nowMs: number): Place[] {
  const places: Place[] = [];
  for (const each of binding) {
    const state = book.open(each.subject, nowMs);
    state.usedAtMs = nowMs;
    for (const bucket of [state.requests, state.tokens]) if (bucket !== null) followClock(bucket, nowMs);
    places.push({ binding: each, state, budget: null });
  }
  return places;
}

/** The subject's state; for `EVERY_END_USER`, the states of all end users of the account. */
function meantBy(book: SubjectBook, subject: Subject): Iterable<SubjectState> {
  const { kind, id } = subject;
  if (kind === 'end_user' && id.endsWith(`/${EVERY_END_USER}`))
    return book.below({ ...subject, id: id.slice(0, -EVERY_END_USER.length) });
  const state = book.find(subject);
  return state === undefined ? [] : [state];
}

function requireBudget(binding: BindingCaps): asserts binding is BudgetBinding {
  const { kind, id } = binding.subject;
  if (!hasBudget(binding)) throw new ConstraintViolation('invalid', `${kind} ${id} has no budget to seed`);
}

function checkAmounts(amount: bigint, tokens: number): void {
  if (amount < 0n) throw new ConstraintViolation('invalid', `amount: found ${amount} nano-USD, expected 0 or more`);
  if (!Number.isSafeInteger(tokens) || tokens < 0)
    throw new ConstraintViolation('invalid', `tokens: found ${tokens}, expected a whole number, 0 or more`);
}

/** Returns zero use for a subject without state: no recent call named it. */
function readUse(state: SubjectState | undefined, caps: Caps, nowMs: number): CapsUse {
  return {
    requests: useOf(state?.requests ?? null, caps.requestsPerMinute, nowMs),
    tokens: useOf(state?.tokens ?? null, caps.tokensPerMinute, nowMs),
    running: caps.concurrency === null ? null : (state?.running ?? 0),
  };
}

function useOf(bucket: Bucket | null, limit: number | null, nowMs: number): CapsUse['requests'] {
  if (limit === null) return null;
  const level = bucket === null ? 0 : levelAt(bucket, limit, nowMs);
  return { used: usedOf(level), wholeAtMs: nowMs + wholeAfterMs(level, limit) };
}
