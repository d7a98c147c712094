/** Owns the routes that show an account's money: its ledger, and its statement as a file. Moves nothing. */
import type { ShownEntry } from '../store/statement-port.ts';
import { readAccount } from './account-view.ts';
import { readCursor, readRange, renderCursor } from './cursor.ts';
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
      const statement = await statements.readStatement(id, fromMs, toMs);
      const zone = gate.desk.timeZoneOf(id);
      return { name: `tollgate-statement-${id}.csv`, lines: renderStatement(statement, { zone, fromMs, toMs }) };
    },
  };
}

function showEntry({ seq, atMs, kind, ref, amount, released, note }: ShownEntry) {
  const [amount_nano_usd, released_nano_usd] = [amount.toString(), released.toString()];
  return { seq, at: showTime(atMs), kind, ref, amount_nano_usd, released_nano_usd, note };
}
