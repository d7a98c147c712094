/** Owns the routes that show an account's money: its ledger, and its statement as a file. Moves nothing. */
import type { ShownEntry } from '../store/statement-port.ts';
import { readAccount } from './account-view.ts';
import { ConsoleFailure } from './console-failure.ts';
import { readCursor, readRange, renderCursor } from './cursor.ts';
import { dateIn } from './day-bounds.ts';
import { findAccount } from './find-subject.ts';
import { showTime } from './gauges.ts';
import type { Handlers } from './handlers.ts';
import type { PolicyParts } from './policy-parts.ts';
import { renderStatement } from './render-statement.ts';

const PAGE_ENTRIES = 100;

export function billingHandlers(
  parts: PolicyParts,
): Handlers<'GET /accounts/{account}/billing' | 'GET /accounts/{account}/billing.csv'> {
  const { statements, gate } = parts;
  return {
    'GET /accounts/{account}/billing': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      const only = query.kind === 'money' ? 'movements' : 'all';
      const [account, page] = await Promise.all([
        readAccount(parts, id),
        statements.readEntries(id, only, readCursor(query.before), PAGE_ENTRIES),
      ]);
      return { account, entries: page.entries.map(showEntry), next: renderCursor(page.nextSeq) };
    },
    'GET /accounts/{account}/billing.csv': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      const [fromMs, toMs] = readRange(query);
      const nowMs = parts.nowMs();
      if (fromMs > nowMs) {
        const message = `from: found ${query.from}, expected a time in the past: nothing is booked in the future`;
        throw new ConsoleFailure('invalid', message, { member: 'from' });
      }
      const zone = gate.desk.timeZoneOf(id);
      const statement = await statements.readStatement(id, { fromMs, toMs }, (atMs) => dateIn(zone, atMs));
      // What is asked for may end with the month; what is known ends now.
      const closedMs = Math.min(toMs, nowMs);
      const name = `tollgate-statement-${id}-${dateIn(zone, fromMs)}-to-${dateIn(zone, Math.max(fromMs, closedMs - 1))}.csv`;
      return { name, lines: renderStatement(statement, { zone, fromMs, closedMs }) };
    },
  };
}

function showEntry({ seq, atMs, kind, ref, amount, released, note }: ShownEntry) {
  const [amount_nano_usd, released_nano_usd] = [amount.toString(), released.toString()];
  return { seq, at: showTime(atMs), kind, ref, amount_nano_usd, released_nano_usd, note };
}
