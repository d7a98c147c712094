/**
 * Owns how often somebody may try: each failure beyond the free ones doubles a wait, per address and per e-mail. It counts in
 * memory, so a restart forgets; what is tried is slow enough that this gives nobody much.
 */
import { parseIpAddress } from '../../lib/ip-range.ts';
import { PeopleFailure } from '../people-failure.ts';

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
  readonly failures: number;
  readonly lastMs: number;
  readonly lockedUntilMs: number;
}

/** After so long without a failure a subject is new. */
const FORGET_MS = 3_600_000;
const FIRST_WAIT_MS = 1_000;
/** Of those that wait, and of those that do not: a flood of made-up subjects grows no further, and pushes out none that waits. */
const SUBJECTS_MAX = 100_000;

/** `nowMs`: unix ms. */
export function createAttempts(nowMs: () => number): Attempts {
  /** Subjects by name, the one that failed longest ago first; `waiting`: with failures beyond the free ones. */
  const [free, waiting] = [new Map<string, Count>(), new Map<string, Count>()];

  function find(name: string, atMs: number): Count | null {
    const count = waiting.get(name) ?? free.get(name);
    return count !== undefined && atMs - count.lastMs < FORGET_MS ? count : null;
  }

  function keep({ name, freeCount }: AttemptSubject, count: Count): void {
    drop(name);
    const counts = count.failures > freeCount ? waiting : free;
    counts.set(name, count);
    const [oldest] = counts.keys();
    if (counts.size > SUBJECTS_MAX && oldest !== undefined) counts.delete(oldest);
  }

  function drop(name: string): void {
    free.delete(name);
    waiting.delete(name);
  }

  function undo(subject: AttemptSubject): void {
    const count = find(subject.name, nowMs());
    if (count === null) return;
    const failures = count.failures - 1;
    if (failures <= 0) drop(subject.name);
    else keep(subject, { ...count, failures, lockedUntilMs: 0 });
  }

  return {
    begin(subjects) {
      const atMs = nowMs();
      const found = subjects.map((subject) => ({ subject, count: find(subject.name, atMs) }));
      const lockedUntilMs = Math.max(0, ...found.map(({ count }) => count?.lockedUntilMs ?? 0));
      if (lockedUntilMs > atMs) {
        const seconds = Math.ceil((lockedUntilMs - atMs) / 1_000);
        throw new PeopleFailure('too_many', `too many attempts failed; try again in ${seconds} s`, {
          retryAfterSeconds: seconds,
        });
      }
      for (const { subject, count } of found) {
        const failures = (count?.failures ?? 0) + 1;
        const beyond = failures - subject.freeCount;
        const waitMs = beyond > 0 ? Math.min(FIRST_WAIT_MS * 2 ** (beyond - 1), subject.waitMsMax) : 0;
        keep(subject, { failures, lastMs: atMs, lockedUntilMs: waitMs === 0 ? 0 : atMs + waitMs });
      }
      return {
        succeed(forgive) {
          for (const subject of subjects) {
            if (forgive.includes(subject.name)) drop(subject.name);
            else undo(subject);
          }
        },
        withdraw() {
          for (const subject of subjects) undo(subject);
        },
      };
    },
  };
}

/** An IPv6 host has a whole /64 to come from. */
export function addressSubject(address: string | null): AttemptSubject {
  const bytes = address === null ? null : parseIpAddress(address)?.toByteArray().slice(0, 8);
  return { name: `address ${bytes?.join(' ') ?? 'unknown'}`, freeCount: 10, waitMsMax: 900_000 };
}

/** A short bound: whoever knows somebody's address must not be able to lock him out for long. */
export function emailSubject(email: string): AttemptSubject {
  return { name: `email ${email}`, freeCount: 5, waitMsMax: 60_000 };
}

export function personSubject(person: string): AttemptSubject {
  return { name: `person ${person}`, freeCount: 5, waitMsMax: 60_000 };
}
