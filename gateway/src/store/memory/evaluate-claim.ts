/**
 * Checks every cap of a claim before anything is taken: finds the refusal with the longest wait, the budgets to seed,
 * and the rate limit status. Also takes an admitted claim's part of each cap, and gives it back.
 */
import {
  type Bucket,
  correct,
  levelAt,
  newBucket,
  remainingOf,
  type Taken,
  take,
  takenOf,
  waitMs,
  wholeAfterMs,
} from '../../admission/gcra.ts';
import {
  type BindingCaps,
  type CallSubjects,
  endUserSubject,
  type LimitClaim,
  type LimitRefusal,
  type LimitUse,
  type RateLimitStatus,
  type RefusalKind,
  type Subject,
} from '../ports/limits.ts';
import { currentWindow, hasBudget, roomOf, settleInWindow, type WindowState } from './budget-window.ts';
import type { SubjectState } from './subject-book.ts';

/** One subject of the claim with its state. */
export interface Place {
  readonly binding: BindingCaps;
  readonly state: SubjectState;
  /** Null: no budget applies. */
  budget: WindowState | null;
}

export interface ClaimEvaluation {
  /** Null: every known cap allows the claim. */
  readonly refusal: LimitRefusal | null;
  readonly unseeded: readonly BindingCaps[];
}

/** The time until a slot frees up is unknown; a second is short for a client and long for the gateway. */
const SLOT_WAIT_MS = 1_000;
const NONE: readonly BindingCaps[] = [];

/** Checks the claim against each place and sets the place's budget. */
export function evaluateClaim(places: readonly Place[], claim: LimitClaim, nowMs: number): ClaimEvaluation {
  let refusal: LimitRefusal | null = null;
  let unseeded: BindingCaps[] | null = null;
  const wanted = roomWanted(claim);
  const refuse = (kind: RefusalKind, binding: BindingCaps, use: LimitUse, retryAfterMs: number | null): void => {
    if (refusal === null || isLonger(retryAfterMs, refusal.retryAfterMs))
      refusal = buildRefusal(kind, binding, use, retryAfterMs);
  };
  for (const place of places) {
    const { binding, state } = place;
    const { requestsPerMinute, tokensPerMinute, concurrency } = binding.caps;
    if (requestsPerMinute !== null) {
      const level = levelOf(state, 'requests', requestsPerMinute, nowMs);
      const wait = waitMs(level, requestsPerMinute, 1);
      if (wait !== 0) refuse('requests', binding, useOf(level, requestsPerMinute, 1), wait);
    }
    if (tokensPerMinute !== null) {
      const level = levelOf(state, 'tokens', tokensPerMinute, nowMs);
      const wait = waitMs(level, tokensPerMinute, claim.tokens);
      if (wait !== 0) refuse('tokens', binding, useOf(level, tokensPerMinute, claim.tokens), wait);
    }
    if (concurrency !== null && state.running >= concurrency) {
      refuse('concurrency', binding, { used: state.running, cap: concurrency, needed: 1 }, SLOT_WAIT_MS);
    }
    if (hasBudget(binding)) {
      place.budget = currentWindow(state.windows, binding);
      if (place.budget === null) {
        unseeded ??= [];
        unseeded.push(binding);
      } else if (claim.amount > 0n && roomOf(place.budget) < wanted) {
        refuse('budget', binding, useOfBudget(place.budget, wanted), null);
      }
    }
  }
  return { refusal, unseeded: unseeded ?? NONE };
}

/** What a budget or the balance must have left to admit the claim. */
export function roomWanted({ amount, room = amount }: LimitClaim): bigint {
  return room > amount ? room : amount;
}

/** Null (never) is the longest. */
function isLonger(one: number | null, other: number | null): boolean {
  return other !== null && (one === null || one > other);
}

function buildRefusal(
  kind: RefusalKind,
  { subject, caps, windowEndMs }: BindingCaps,
  use: LimitUse,
  retryAfterMs: number | null,
): LimitRefusal {
  const window = kind === 'budget' ? (caps.budget?.window ?? null) : null;
  const limit = typeof use.cap === 'number' ? use.cap : null;
  return { kind, subject, limit, use, retryAfterMs, window, windowEndMs: window === null ? null : windowEndMs };
}

/** The refusal for a prepaid account whose balance does not cover the amount needed. */
export function refuseBalance(account: string, available: bigint, needed: bigint): LimitRefusal {
  const subject: Subject = { kind: 'account', id: account };
  const use = { used: 0n, cap: available, needed };
  return { kind: 'balance', subject, limit: null, use, retryAfterMs: null, window: null, windowEndMs: null };
}

/** The refusal for a running call whose budget does not cover the additional amount. */
export function refuseExtension(budget: WindowState, needed: bigint): LimitRefusal {
  const { subject, window, endMs: windowEndMs } = budget;
  const use = useOfBudget(budget, needed);
  return { kind: 'budget', subject, limit: null, use, retryAfterMs: null, window, windowEndMs };
}

function useOf(level: number, cap: number, needed: number): LimitUse {
  return { used: cap - remainingOf(level, cap), cap, needed };
}

function useOfBudget({ settled, held, cap }: WindowState, needed: bigint): LimitUse {
  return { used: settled + held, cap, needed };
}

/** What the tightest rate limit of each kind leaves now. */
export function readRateLimitStatus(places: readonly Place[], nowMs: number): RateLimitStatus {
  let requests: RateLimitStatus['requests'] = null;
  let tokens: RateLimitStatus['tokens'] = null;
  for (const { binding, state } of places) {
    const { requestsPerMinute, tokensPerMinute } = binding.caps;
    if (requestsPerMinute !== null) requests = tighter(requests, state, 'requests', requestsPerMinute, nowMs);
    if (tokensPerMinute !== null) tokens = tighter(tokens, state, 'tokens', tokensPerMinute, nowMs);
  }
  return { requests, tokens };
}

function tighter(
  before: RateLimitStatus['requests'],
  state: SubjectState,
  sort: 'requests' | 'tokens',
  limit: number,
  nowMs: number,
): RateLimitStatus['requests'] {
  const level = levelOf(state, sort, limit, nowMs);
  const remaining = remainingOf(level, limit);
  if (before !== null && before.remaining <= remaining) return before;
  return { limit, remaining, resetMs: nowMs + wholeAfterMs(level, limit) };
}

function levelOf(state: SubjectState, sort: 'requests' | 'tokens', limit: number, nowMs: number): number {
  const bucket = state[sort];
  return bucket === null ? 0 : levelAt(bucket, limit, nowMs);
}

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

/** A holding without slots to give back, and without a lease. Its tokens are corrected when its usage is known. */
export function detachHolding(holding: Holding, nowMs: number): Holding {
  leaveSubjects(holding, nowMs);
  return { ...holding, subjects: [], leaseEndsMs: Number.POSITIVE_INFINITY };
}

/** The holding of a detached call whose budgets are not seeded yet. `balance`: without its amount. */
export function resumeHolding(claim: LimitClaim, balance: Balance | null): Holding {
  const { amount } = claim;
  const leaseEndsMs = Number.POSITIVE_INFINITY;
  return { subjects: [], budgets: NO_BUDGETS, balance, tokens: NO_TOKENS, amount, claim, leaseEndsMs };
}

function leaveSubjects({ subjects }: Holding, nowMs: number): void {
  for (const subject of subjects) {
    subject.running -= 1;
    subject.usedAtMs = nowMs;
  }
}

/** `charged`: at most what is held. `tokens`: tokens used; null: all that were taken. */
export function returnUnused(holding: Holding, charged: bigint, tokens: number | null, nowMs: number): void {
  leaveSubjects(holding, nowMs);
  if (tokens !== null) for (const { bucket, taken } of holding.tokens) correct(bucket, taken, tokens, nowMs);
  for (const budget of holding.budgets) settleInWindow(budget, holding.amount, charged);
  if (holding.balance !== null) holding.balance.available += holding.amount - charged;
}
