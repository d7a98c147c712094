/**
 * Owns how often somebody may try: each failure beyond the free ones doubles a wait, per address and per e-mail. It counts in
 * memory, so a restart forgets; what is tried is slow enough that this gives nobody much.
 */
import { parseIpAddress } from '../lib/ip-range.ts';
import { PeopleFailure } from './people-failure.ts';

/** Who or what is counted, and how it is held to. */
export interface AttemptSubject {
  readonly name: string;
  /** Failures that cost no wait. */
  readonly freeCount: number;
  readonly waitMsMax: number;
}

export interface Attempt {
  /** It was right: it does not count. `forgive`: names of subjects whose former failures are forgotten too. */
  succeed(forgive: readonly string[]): void;
  /** It was not tried after all, by a fault of ours. */
  withdraw(): void;
}

export interface Attempts {
  /** Counts an attempt as failed until it is known to be right. @throws PeopleFailure `too_many` */
  begin(subjects: readonly AttemptSubject[]): Attempt;
}

interface Count {
  failures: number;
  lastMs: number;
  lockedUntilMs: number;
}

/** After so long without a failure a subject is new. */
const FORGET_MS = 3_600_000;
const FIRST_WAIT_MS = 1_000;
/** A flood of made-up subjects pushes out the oldest, never grows. */
const SUBJECTS_MAX = 100_000;

/** `nowMs`: unix ms. */
export function createAttempts(nowMs: () => number): Attempts {
  const counts = new Map<string, Count>();

  function countOf(name: string, atMs: number): Count {
    const before = counts.get(name);
    counts.delete(name);
    const count =
      before !== undefined && atMs - before.lastMs < FORGET_MS
        ? before
        : { failures: 0, lastMs: atMs, lockedUntilMs: 0 };
    counts.set(name, count);
    if (counts.size > SUBJECTS_MAX) for (const oldest of counts.keys()) return dropAndKeep(oldest, count);
    return count;
  }

  function dropAndKeep(oldest: string, count: Count): Count {
    counts.delete(oldest);
    return count;
  }

  function undo(name: string): void {
    const count = counts.get(name);
    if (count === undefined) return;
    count.failures -= 1;
    count.lockedUntilMs = 0;
    if (count.failures <= 0) counts.delete(name);
  }

  return {
    begin(subjects) {
      const atMs = nowMs();
      const found = subjects.map((subject) => ({ subject, count: countOf(subject.name, atMs) }));
      const lockedUntilMs = Math.max(0, ...found.map(({ count }) => count.lockedUntilMs));
      if (lockedUntilMs > atMs) {
        const seconds = Math.ceil((lockedUntilMs - atMs) / 1_000);
        throw new PeopleFailure('too_many', `too many attempts failed; try again in ${seconds} s`, {
          retryAfterSeconds: seconds,
        });
      }
      for (const { subject, count } of found) {
        count.failures += 1;
        count.lastMs = atMs;
        const beyond = count.failures - subject.freeCount;
        if (beyond > 0) count.lockedUntilMs = atMs + Math.min(FIRST_WAIT_MS * 2 ** (beyond - 1), subject.waitMsMax);
      }
      return {
        succeed(forgive) {
          for (const { subject } of found) {
            if (forgive.includes(subject.name)) counts.delete(subject.name);
            else undo(subject.name);
          }
        },
        withdraw() {
          for (const { subject } of found) undo(subject.name);
        },
      };
    },
  };
}

/** An IPv6 host has a whole /64 to come from. */
export function addressSubject(address: string | null): AttemptSubject {
  const words = address === null ? null : parseIpAddress(address);
  return { name: `address ${words?.slice(0, 2).join(' ') ?? 'unknown'}`, freeCount: 10, waitMsMax: 900_000 };
}

/** A short bound: whoever knows somebody's address must not be able to lock him out for long. */
export function emailSubject(email: string): AttemptSubject {
  return { name: `email ${email}`, freeCount: 5, waitMsMax: 60_000 };
}

export function personSubject(person: string): AttemptSubject {
  return { name: `person ${person}`, freeCount: 5, waitMsMax: 60_000 };
}
