/** Owns that a code of an authenticator works once, though it is right for a minute and a half. RFC 6238, section 5.2. */
import { PeopleFailure } from './people-failure.ts';

export interface SpentCodes {
  /** Marks a code as used; null: it was used before. The result takes the mark back: the code was not right. */
  spend(person: string, code: string): (() => void) | null;
}

/** The step before, this one and the next, 30 s each. */
const RIGHT_MS = 90_000;

/** The refusal of a code that was used before. */
export function codeIsSpent(): PeopleFailure {
  return new PeopleFailure('wrong_credential', 'this code was used already; wait for the next one', { member: 'code' });
}

/** `nowMs`: unix ms. */
export function createSpentCodes(nowMs: () => number): SpentCodes {
  const spentAtMs = new Map<string, number>();
  return {
    spend(person, code) {
      const atMs = nowMs();
      for (const [name, thenMs] of spentAtMs) if (atMs - thenMs > RIGHT_MS) spentAtMs.delete(name);
      const name = `${person} ${code}`;
      if (spentAtMs.has(name)) return null;
      spentAtMs.set(name, atMs);
      return () => spentAtMs.delete(name);
    },
  };
}
