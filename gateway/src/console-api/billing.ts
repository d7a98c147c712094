/** Owns the routes that show an account's money: its ledger, and its statement as a file. Moves nothing. */
import { formatNanoUsd } from '../billing/money.ts';
import type { ShownEntry, Statement } from '../store/statement-port.ts';
import { readAccount } from './account-view.ts';
import { csvLine } from './csv.ts';
import { readCursor, readRange, renderCursor } from './cursor.ts';
import { dateIn } from './day-bounds.ts';
import { findAccount, requireWholeAccount } from './find-subject.ts';
import { showTime } from './gauges.ts';
import type { Handlers } from './handlers.ts';
import type { PolicyParts } from './policy-parts.ts';

const PAGE_ENTRIES = 100;

export function billingHandlers(
  parts: PolicyParts,
): Handlers<'GET /accounts/{account}/billing' | 'GET /accounts/{account}/billing.csv'> {
  const { statements, gate } = parts;
  return {
    'GET /accounts/{account}/billing': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      requireWholeAccount(tenancy, 'the money is that');
      const only = query.kind === 'money' ? 'movements' : 'all';
      const [account, page] = await Promise.all([
        readAccount(parts, id),
        statements.readEntries(id, only, readCursor(query.before), PAGE_ENTRIES),
      ]);
      return { account, entries: page.entries.map(showEntry), next: renderCursor(page.nextSeq) };
    },
    'GET /accounts/{account}/billing.csv': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      requireWholeAccount(tenancy, 'the money is that');
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

interface Line {
  /** By the account's clocks. Within a day its charges come last. */
  readonly date: string;
  readonly atMs: number;
  readonly cells: readonly [date: string, kind: string, ref: string | null, note: string | null, calls: number | null];
  readonly amount: bigint;
}

/** Opening balance, each day's movements and charges, closing balance: every line's balance is the one before and its amount. */
async function* renderStatement(
  { opening, closing, movements, charges }: Statement,
  { zone, fromMs, toMs }: { readonly zone: string; readonly fromMs: number; readonly toMs: number },
): AsyncGenerator<string> {
  yield csvLine(['date', 'kind', 'ref', 'note', 'calls', 'amount_usd', 'balance_usd']);
  yield csvLine([showTime(fromMs), 'opening', null, null, null, null, formatNanoUsd(opening)]);
  const lines: Line[] = movements.map(({ atMs, kind, ref, note, amount }) => ({
    date: dateIn(zone, atMs),
    atMs,
    cells: [showTime(atMs), kind, ref, note, null],
    amount,
  }));
  lines.push(...sumDays(charges, zone));
  let balance = opening;
  for (const { cells, amount } of lines.sort(byDate)) {
    balance += amount;
    yield csvLine([...cells, formatNanoUsd(amount), formatNanoUsd(balance)]);
  }
  if (balance !== closing) throw new Error(`the statement ends at ${balance} nano-USD, its account at ${closing}`);
  yield csvLine([showTime(toMs), 'closing', null, null, null, null, formatNanoUsd(closing)]);
}

function byDate(one: Line, other: Line): number {
  if (one.date !== other.date) return one.date < other.date ? -1 : 1;
  return one.atMs < other.atMs ? -1 : 1;
}

/** A line for each day with charges. */
function sumDays(charges: Statement['charges'], zone: string): readonly Line[] {
  const days = new Map<string, { calls: number; amount: bigint }>();
  for (const { fromMs, calls, amount } of charges) {
    const date = dateIn(zone, fromMs);
    const before = days.get(date) ?? { calls: 0, amount: 0n };
    days.set(date, { calls: calls + before.calls, amount: amount + before.amount });
  }
  return [...days].map(([date, { calls, amount }]) => ({
    date,
    atMs: Number.POSITIVE_INFINITY,
    cells: [date, 'charges', null, null, calls],
    amount: -amount,
  }));
}
