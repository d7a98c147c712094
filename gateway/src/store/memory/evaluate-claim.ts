/**
 * Checks every cap of a claim before anything is taken: finds the refusal with the longest wait, the budgets to seed,
 * and the rate limit status. Changes nothing except advancing budget windows.
 */
import { levelAt, remainingOf, waitMs, wholeAfterMs } from '../../admission/gcra.ts';
import type {
  BindingCaps,
  LimitClaim,
  LimitRefusal,
  LimitUse,
  RateLimitStatus,
  RefusalKind,
  Subject,
} from '../ports/limits.ts';
import { currentWindow, hasBudget, roomOf, type WindowState } from './budget-window.ts';
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
