/**
 * Limits sign-in attempts: each failure beyond the free ones doubles a wait, per address and per email. Counts in
 * memory and forgets them at a restart; attempts are slow enough that this gains an attacker little.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import { parseIpAddress } from '../../lib/ip-range.ts';

/** A counted subject (address, email or person) and its limits. */
export interface AttemptSubject {
  readonly name: string;
  /** Failures that cost no wait. */
  readonly freeCount: number;
  readonly waitMsMax: number;
}

export interface Attempt {
  /**
   * The attempt succeeded and does not count. `forgive`: names of subjects whose earlier failures are forgotten too.
   */
  succeed(forgive: readonly string[]): void;
  /** The attempt did not take place because of an internal error. */
  withdraw(): void;
}

export interface Attempts {
  /** Counts an attempt as failed until it succeeds. @throws ConsoleFailure `too_many` */
  begin(subjects: readonly AttemptSubject[]): Attempt;
}

interface Count {
  readonly failures: number;
  readonly lastMs: number;
  readonly lockedUntilMs: number;
}

/** A subject is forgotten after this time without a failure. */
const FORGET_MS = 3_600_000;
const FIRST_WAIT_MS = 1_000;
/**
 * Applies separately to waiting and other subjects: a flood of invented subjects is bounded and evicts no waiting one.
 */
const SUBJECTS_MAX = 100_000;

/** `nowMs`: unix ms of a clock that never goes back. */
export function createAttempts(nowMs: () => number): Attempts {
  /** Subjects by name, least recent failure first; `waiting`: those with failures beyond the free ones. */
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
        throw new ConsoleFailure('too_many', `too many failed attempts; try again in ${seconds} s`, {
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

/** Counts a whole /64, because one IPv6 host can use all of it. */
export function addressSubject(address: string | null): AttemptSubject {
  const bytes = address === null ? null : parseIpAddress(address)?.toByteArray().slice(0, 8);
  return { name: `address ${bytes?.join(' ') ?? 'unknown'}`, freeCount: 10, waitMsMax: 900_000 };
}

/** A short maximum wait, so that someone who knows a user's address can't lock them out for long. */
export function emailSubject(email: string): AttemptSubject {
  return { name: `email ${email}`, freeCount: 5, waitMsMax: 60_000 };
}

export function personSubject(person: string): AttemptSubject {
  return { name: `person ${person}`, freeCount: 5, waitMsMax: 60_000 };
}
