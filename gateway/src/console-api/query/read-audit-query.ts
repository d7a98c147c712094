/** Reads queries over the audit log: days become ranges of time in the account's zone, and unknown values are named. */
import { dayAt } from '../../admission/window.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { chooseNearName } from '../../errors/near-name.ts';
import { AUDIT_LANGUAGE, type AuditField } from '../../lib/query/audit-query.ts';
import type { QueryTerm, RangeTest } from '../../lib/query/call-query.ts';
import { parseTerms, QueryError } from './parse-query.ts';

/** @throws ConsoleFailure that names what is wrong in `q` */
export function readAuditQuery(q: string | undefined, timeZone: string): readonly QueryTerm<AuditField>[] {
  try {
    const { terms } = parseTerms(q ?? '', AUDIT_LANGUAGE);
    return terms.map((term) => ({ ...term, ranges: term.ranges.map((range) => timesOf(range, timeZone)) }));
  } catch (fault) {
    if (!(fault instanceof QueryError)) throw fault;
    throw new ConsoleFailure('invalid', `q: ${fault.message}`, { member: 'q', cause: fault });
  }
}

/** The range of days as one of times, in Unix ms and with both bounds. */
function timesOf({ from, to, isOpen }: RangeTest, timeZone: string): RangeTest {
  const [first, last] = [from === null ? null : dayOf(from, timeZone), to === null ? null : dayOf(to, timeZone)];
  return {
    from: first && (isOpen ? first.endMs : first.startMs),
    to: last && (isOpen ? last.startMs : last.endMs) - 1,
    isOpen: false,
  };
}

const HALF_DAY_MS = 43_200_000;

/** `date`: midnight UTC of the day. Its noon is in the same day of zones behind UTC, midnight in those ahead of it. */
function dayOf(date: number | bigint, timeZone: string) {
  const midnightMs = Number(date);
  const wanted = new Date(midnightMs).toISOString().slice(0, 10);
  const dateAt = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  const isIn = (atMs: number) => dateAt.format(atMs) === wanted;
  return dayAt(timeZone, isIn(midnightMs) ? midnightMs : midnightMs + HALF_DAY_MS);
}

type ReadValues = (field: Exclude<AuditField, 'date'>) => Promise<readonly string[]>;

/**
 * Checks the values of a query that no entry met: a value that no entry has was probably mistyped.
 * @throws ConsoleFailure that names the value and the nearest one
 */
export async function checkValues(terms: readonly QueryTerm<AuditField>[], readValues: ReadValues): Promise<void> {
  for (const { field, isNot, texts } of terms) {
    if (isNot || field === 'date') continue;
    const known = await readValues(field);
    for (const test of texts) {
      if (test === null || known.some((value) => (test.isPrefix ? value.startsWith(test.text) : value === test.text))) {
        continue;
      }
      const near = chooseNearName(test.text, known);
      const found = JSON.stringify(test.text.slice(0, 100));
      throw new ConsoleFailure(
        'invalid',
        `q: ${field}: found ${found}, which no entry has; expected ${near === null ? `the ${field} of an entry` : `${near}?`}`,
        { member: 'q' },
      );
    }
  }
}
