/** Owns how an account's statement is written as a file, line by line. Reads nothing. */
import { formatNanoUsd } from '../billing/money.ts';
import type { Statement } from '../store/statement-port.ts';
import { csvLine } from './csv.ts';
import { dateIn } from './day-bounds.ts';
import { showTime } from './gauges.ts';

interface Line {
  /** By the account's clocks. Within a day its charges come last. */
  readonly date: string;
  readonly atMs: number;
  readonly cells: readonly [date: string, kind: string, ref: string | null, note: string | null, calls: number | null];
  readonly amount: bigint;
}

/** Opening balance, each day's movements and charges, closing balance: every line's balance is the one before and its amount. */
export async function* renderStatement(
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
