/** Builds claims and caps for tests of the limits, with defaults for everything that a test does not set. */
import type { BindingCaps, CallSubjects, Caps, LimitClaim, Subject } from '../ports/limits.ts';

const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };

/** Unix ms at which the tests begin; they control the clock. */
export const START_MS = 1_790_000_000_000;

/** Subjects that match no limit in the tests; tests override them where they matter. */
const SUBJECTS: CallSubjects = { keyId: '', workspaceId: '', accountId: '', endUser: null, models: [] };

/** Caps of a key (`k` by default); a budget's window is `total` unless given. */
export function bind(
  caps: Partial<Caps>,
  subject: Partial<Subject> = {},
  window = { startMs: 0, endMs: null as number | null },
): BindingCaps {
  return {
    subject: {
      kind: subject.kind ?? 'key',
      id: subject.id ?? 'k',
      ...(subject.layer === undefined ? {} : { layer: subject.layer }),
    },
    caps: { ...NO_CAPS, ...caps },
    windowStartMs: window.startMs,
    windowEndMs: window.endMs,
  };
}

export const totalOf = (amount: bigint): Partial<Caps> => ({ budget: { window: 'total', amount } });

export function claim(callId: string, binding: readonly BindingCaps[], rest: Partial<LimitClaim> = {}): LimitClaim {
  return {
    callId,
    subjects: SUBJECTS,
    arrivedMs: START_MS,
    binding,
    prepaidAccount: null,
    tokens: 0,
    amount: 0n,
    ...rest,
  };
}

/** Returns a generator of whole numbers below a bound, deterministic per seed (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
