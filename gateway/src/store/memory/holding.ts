/** Tracks what one running call holds of its subjects, budgets and balance: takes it, extends it and gives it back. */
import { type Bucket, correct, newBucket, type Taken, take, takenOf } from '../../admission/gcra.ts';
import { type CallSubjects, endUserSubject, type LimitClaim, type Subject } from '../ports/limits.ts';
import { roomOf, settleInWindow, type WindowState } from './budget-window.ts';
import type { Place } from './evaluate-claim.ts';
import type { SubjectState } from './subject-book.ts';

/** A prepaid account's nano-USD, without what its running calls hold. */
export interface Balance {
  available: bigint;
  /** False: must be seeded before it admits calls. */
  known: boolean;
}

interface TakenTokens {
  readonly bucket: Bucket;
  readonly taken: Taken;
}

export interface Holding {
  readonly subjects: readonly SubjectState[];
  budgets: readonly WindowState[];
  readonly balance: Balance | null;
  readonly tokens: readonly TakenTokens[];
  amount: bigint;
  readonly claim: LimitClaim;
  readonly leaseEndsMs: number;
}

/** Shared empty lists: most calls have few caps. */
const NO_BUDGETS: readonly WindowState[] = [];
const NO_TOKENS: readonly TakenTokens[] = [];

/** Takes everything that the claim requests; the places must allow it. */
export function takeAll(
  places: readonly Place[],
  balance: Balance | null,
  claim: LimitClaim,
  nowMs: number,
  leaseEndsMs: number,
): Holding {
  const subjects: SubjectState[] = [];
  let budgets: WindowState[] | null = null;
  let tokens: TakenTokens[] | null = null;
  for (const { binding, state, budget } of places) {
    const { requestsPerMinute, tokensPerMinute } = binding.caps;
    subjects.push(state);
    state.running += 1;
    if (requestsPerMinute !== null) {
      state.requests ??= newBucket(requestsPerMinute, nowMs);
      take(state.requests, requestsPerMinute, 1, nowMs);
    }
    if (tokensPerMinute !== null) {
      state.tokens ??= newBucket(tokensPerMinute, nowMs);
      take(state.tokens, tokensPerMinute, claim.tokens, nowMs);
      tokens ??= [];
      tokens.push({ bucket: state.tokens, taken: takenOf(state.tokens, claim.tokens) });
    }
    if (budget !== null) {
      budgets ??= [];
      budgets.push(budget);
    }
  }
  const taken = { subjects, budgets: budgets ?? NO_BUDGETS, balance, tokens: tokens ?? NO_TOKENS, claim, leaseEndsMs };
  const holding: Holding = { ...taken, amount: 0n };
  holdMore(holding, claim.amount);
  return holding;
}

/** Whether the call counts in the window, even if it began before the budget existed. */
export function countsIn({ claim }: Holding, { subject, startMs, endMs }: WindowState): boolean {
  const { subjects, arrivedMs } = claim;
  return startMs <= arrivedMs && (endMs === null || arrivedMs < endMs) && isMadeFor(subjects, subject);
}

function isMadeFor({ keyId, workspaceId, accountId, endUser, models }: CallSubjects, { kind, id }: Subject): boolean {
  switch (kind) {
    case 'key':
      return keyId === id;
    case 'workspace':
      return workspaceId === id;
    case 'account':
      return accountId === id;
    case 'model':
      return models.includes(id);
    case 'end_user':
      return endUserSubject(accountId, endUser).id === id;
  }
}

/** Counts the call's hold in the budget from now on. It leaves a dropped window of the same budget. */
export function joinBudget(holding: Holding, budget: WindowState): void {
  if (holding.budgets.includes(budget)) return;
  const others = holding.budgets.filter(
    ({ subject, window, startMs }) =>
      window !== budget.window ||
      startMs !== budget.startMs ||
      subject.kind !== budget.subject.kind ||
      subject.id !== budget.subject.id ||
      subject.layer !== budget.subject.layer,
  );
  holding.budgets = [...others, budget];
  budget.held += holding.amount;
}

/** The part of the amount that every budget and the balance cover: all of it, or what the scarcest has. */
export function coverable({ budgets, balance }: Holding, amount: bigint): bigint {
  let covered = amount;
  if (balance !== null && balance.available < covered) covered = balance.available;
  for (const budget of budgets) {
    const room = roomOf(budget);
    if (room < covered) covered = room;
  }
  return covered < 0n ? 0n : covered;
}

/** Holds more money; the amount must be `coverable`. */
export function holdMore(holding: Holding, amount: bigint): void {
  for (const budget of holding.budgets) budget.held += amount;
  if (holding.balance !== null) holding.balance.available -= amount;
  holding.amount += amount;
}

/** `charged`: at most what is held. `tokens`: tokens used; null: all that were taken. */
export function returnUnused(holding: Holding, charged: bigint, tokens: number | null, nowMs: number): void {
  for (const subject of holding.subjects) {
    subject.running -= 1;
    subject.usedAtMs = nowMs;
  }
  if (tokens !== null) for (const { bucket, taken } of holding.tokens) correct(bucket, taken, tokens, nowMs);
  for (const budget of holding.budgets) settleInWindow(budget, holding.amount, charged);
  if (holding.balance !== null) holding.balance.available += holding.amount - charged;
}
