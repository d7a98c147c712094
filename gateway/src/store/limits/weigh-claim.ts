/**
 * Owns the look at every cap of a claim before anything is taken: what keeps the call out the longest, what must be seeded,
 * what the limits per minute leave. Changes nothing but windows that turn.
 */
import { levelAt, remainingOf, waitMs, wholeAfterMs } from '../../admission/gcra.ts';
import type { BindingCaps, LimitClaim, LimitRefusal, RefusalKind, Standing, Subject } from '../limits-port.ts';
import { currentWindow, hasBudget, roomOf, type WindowState } from './budget-window.ts';
import type { SubjectState } from './subject-book.ts';

/** A subject of the claim with what it would take of it. */
export interface Place {
  readonly binding: BindingCaps;
  readonly state: SubjectState;
  /** Null: no budget binds. */
  budget: WindowState | null;
}

export interface Weighed {
  /** Null: every cap that is known allows it. */
  readonly refusal: LimitRefusal | null;
  readonly unseeded: readonly BindingCaps[];
}

/** Nobody knows when a slot comes free; a second is short for a caller and long for the gateway. */
const SLOT_WAIT_MS = 1_000;
const NONE: readonly BindingCaps[] = [];

/** Weighs the claim against each place, and fills in the place's budget. */
export function weighClaim(places: readonly Place[], claim: LimitClaim, nowMs: number): Weighed {
  let refusal: LimitRefusal | null = null;
  let unseeded: BindingCaps[] | null = null;
  const wanted = roomWanted(claim);
  const refuse = (kind: RefusalKind, binding: BindingCaps, limit: number | null, retryAfterMs: number | null): void => {
    if (refusal === null || isLonger(retryAfterMs, refusal.retryAfterMs))
      refusal = buildRefusal(kind, binding, limit, retryAfterMs);
  };
  for (const place of places) {
    const { binding, state } = place;
    const { requestsPerMinute, tokensPerMinute, concurrency } = binding.caps;
    if (requestsPerMinute !== null) {
      const wait = waitMs(levelOf(state, 'requests', requestsPerMinute, nowMs), requestsPerMinute, 1);
      if (wait !== 0) refuse('requests', binding, requestsPerMinute, wait);
    }
    if (tokensPerMinute !== null) {
      const wait = waitMs(levelOf(state, 'tokens', tokensPerMinute, nowMs), tokensPerMinute, claim.tokens);
      if (wait !== 0) refuse('tokens', binding, tokensPerMinute, wait);
    }
    if (concurrency !== null && state.running >= concurrency) refuse('concurrency', binding, concurrency, SLOT_WAIT_MS);
    if (hasBudget(binding)) {
      place.budget = currentWindow(state.windows, binding);
      if (place.budget === null) {
        unseeded ??= [];
        unseeded.push(binding);
      } else if (claim.amount > 0n && roomOf(place.budget) < wanted) refuse('budget', binding, null, null);
    }
  }
  return { refusal, unseeded: unseeded ?? NONE };
}

/** What a budget or a balance must have left for the claim to be admitted. */
export function roomWanted({ amount, room = amount }: LimitClaim): bigint {
  return room > amount ? room : amount;
}

/** Null, for never, is the longest. */
function isLonger(one: number | null, other: number | null): boolean {
  return other !== null && (one === null || one > other);
}

function buildRefusal(
  kind: RefusalKind,
  { subject, caps, windowEndMs }: BindingCaps,
  limit: number | null,
  retryAfterMs: number | null,
): LimitRefusal {
  const window = kind === 'budget' ? (caps.budget?.window ?? null) : null;
  return { kind, subject, limit, retryAfterMs, window, windowEndMs: window === null ? null : windowEndMs };
}

/** The refusal of a prepaid account whose balance does not bear the call. */
export function refuseBalance(account: string): LimitRefusal {
  const subject: Subject = { kind: 'account', id: account };
  return { kind: 'balance', subject, limit: null, retryAfterMs: null, window: null, windowEndMs: null };
}

/** What the tightest limit of each sort leaves at the moment. */
export function readStanding(places: readonly Place[], nowMs: number): Standing {
  let requests: Standing['requests'] = null;
  let tokens: Standing['tokens'] = null;
  for (const { binding, state } of places) {
    const { requestsPerMinute, tokensPerMinute } = binding.caps;
    if (requestsPerMinute !== null) requests = tighter(requests, state, 'requests', requestsPerMinute, nowMs);
    if (tokensPerMinute !== null) tokens = tighter(tokens, state, 'tokens', tokensPerMinute, nowMs);
  }
  return { requests, tokens };
}

function tighter(
  before: Standing['requests'],
  state: SubjectState,
  sort: 'requests' | 'tokens',
  limit: number,
  nowMs: number,
): Standing['requests'] {
  const level = levelOf(state, sort, limit, nowMs);
  const remaining = remainingOf(level, limit);
  if (before !== null && before.remaining <= remaining) return before;
  return { limit, remaining, resetMs: nowMs + wholeAfterMs(level, limit) };
}

function levelOf(state: SubjectState, sort: 'requests' | 'tokens', limit: number, nowMs: number): number {
  const bucket = state[sort];
  return bucket === null ? 0 : levelAt(bucket, limit, nowMs);
}
