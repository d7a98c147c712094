/** Builds the statement of an account for a calendar month in its time zone, and renders it as CSV. */
import { windowAt } from '../../admission/window.ts';
import { formatNanoUsd } from '../../billing/money.ts';
import { csvLine } from '../../lib/tables/csv-line.ts';
import {
  CHARGED_TOKENS,
  type ChargedTokens,
  type DayCharge,
  type ShownEntry,
  type StatementReader,
} from '../../store/ports/ledger.ts';
import type { StoredAccount } from '../../store/ports/policy.ts';
import type { Json } from '../command.ts';

/** `2026-10`. Years before 2000 and after 2099 are mistakes. */
export const MONTH_PATTERN = /^20\d{2}-(?:0[1-9]|1[0-2])$/;

/** What a key's requests to a model in a workspace cost in the month. Only requests that were charged are counted. */
export interface StatementLine extends ChargedTokens {
  readonly [member: string]: Json;
  /** Null, as the following: the request has no record. */
  readonly workspace: string | null;
  readonly key: string | null;
  /** The key's name at its last request. */
  readonly key_name: string | null;
  /** Null: the requests named none. */
  readonly model: string | null;
  readonly requests: number;
  readonly cost_nano_usd: string;
}

interface StatementMovement {
  readonly [member: string]: Json;
  readonly at: string;
  readonly kind: 'topup' | 'correct';
  readonly ref: string;
  readonly note: string | null;
  /** Negative: a debit. */
  readonly amount_nano_usd: string;
}

export interface MonthlyStatement {
  readonly [member: string]: Json;
  readonly account: string;
  readonly name: string;
  readonly mode: StoredAccount['mode'];
  readonly month: string;
  readonly time_zone: string;
  readonly from: string;
  /** The end of the month, exclusive. */
  readonly to: string;
  /** False: the month goes on, and the statement is of what has happened so far. */
  readonly final: boolean;
  /** At the beginning of the month; null: postpaid. */
  readonly opening_nano_usd: string | null;
  /** At the end of the month, or now; null: postpaid. */
  readonly closing_nano_usd: string | null;
  readonly credits_nano_usd: string;
  readonly charges_nano_usd: string;
  /** By workspace, the highest cost first. */
  readonly lines: readonly StatementLine[];
  readonly movements: readonly StatementMovement[];
}

/** Unix ms, the end exclusive. `month`: as `MONTH_PATTERN`. */
export function monthRange(month: string, timeZone: string): { readonly fromMs: number; readonly toMs: number } {
  // The fifteenth of a month is in it in every zone.
  const { startMs, endMs } = windowAt('month', timeZone, Date.parse(`${month}-15T12:00:00Z`));
  if (endMs === null) throw new Error('a month ends');
  return { fromMs: startMs, toMs: endMs };
}

/** The month that contains a moment: `2026-10`. */
export function monthAt(timeZone: string, atMs: number): string {
  const shown = new Intl.DateTimeFormat('en-CA', { timeZone, calendar: 'gregory', year: 'numeric', month: '2-digit' });
  return shown.format(atMs).slice(0, 7);
}

/** The last month that has ended; of an account that was created since then, the current one. */
export function usualMonth({ timeZone, createdAtMs }: StoredAccount, nowMs: number): string {
  const current = monthRange(monthAt(timeZone, nowMs), timeZone);
  return monthAt(timeZone, createdAtMs < current.fromMs ? current.fromMs - 1 : nowMs);
}

/** Reads the statement of a month that has begun. */
export async function readMonthlyStatement(
  statements: Pick<StatementReader, 'readStatement'>,
  account: StoredAccount,
  month: string,
  nowMs: number,
): Promise<MonthlyStatement> {
  const { id, name, mode, timeZone } = account;
  const range = monthRange(month, timeZone);
  const { opening, closing, movements, charges } = await statements.readStatement(id, range, null);
  const [charged, credited] = [sumOf(charges), sumOf(movements)];
  if (opening + credited - charged !== closing) {
    throw new Error(
      `the statement of ${month} ends at ${opening + credited - charged} nano-USD, its account at ${closing}`,
    );
  }
  return {
    account: id,
    name,
    mode,
    month,
    time_zone: timeZone,
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    final: nowMs >= range.toMs,
    opening_nano_usd: mode === 'prepaid' ? opening.toString() : null,
    closing_nano_usd: mode === 'prepaid' ? closing.toString() : null,
    credits_nano_usd: credited.toString(),
    charges_nano_usd: charged.toString(),
    lines: [...charges].sort(byWorkspace).map(viewLine),
    movements: movements.map(viewMovement),
  };
}

function sumOf(rows: readonly { readonly amount: bigint }[]): bigint {
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

function byWorkspace(one: DayCharge, other: DayCharge): number {
  const [here, there] = [one.workspace ?? '', other.workspace ?? ''];
  if (here !== there) return here < there ? -1 : 1;
  return one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1;
}

function viewLine({ workspace, keyId, keyName, model, calls, tokens, amount }: DayCharge): StatementLine {
  const cost_nano_usd = amount.toString();
  return { workspace, key: keyId, key_name: keyName, model, requests: calls, ...tokens, cost_nano_usd };
}

function viewMovement({ atMs, kind, ref, note, amount }: ShownEntry): StatementMovement {
  const at = new Date(atMs).toISOString();
  return { at, kind: kind === 'topup' ? 'topup' : 'correct', ref, note, amount_nano_usd: amount.toString() };
}

const HEAD = [
  'kind',
  'at',
  'workspace',
  'key_id',
  'key_name',
  'model',
  'requests',
  ...CHARGED_TOKENS,
  'reference',
  'note',
  'charge_usd',
  'credit_usd',
  'balance_usd',
] as const;

/** The opening balance plus the credits minus the charges is the closing balance. */
export function* renderStatementCsv(statement: MonthlyStatement): Generator<string> {
  const line = (cells: Partial<Record<(typeof HEAD)[number], string | number | null>>) =>
    csvLine(HEAD.map((column) => cells[column] ?? null));
  const usd = (nanoUsd: string) => formatNanoUsd(BigInt(nanoUsd));
  const { opening_nano_usd: opening, closing_nano_usd: closing } = statement;
  yield csvLine([...HEAD]);
  if (opening !== null) yield line({ kind: 'opening', at: statement.from, balance_usd: usd(opening) });
  for (const { at, kind, ref, note, amount_nano_usd } of statement.movements) {
    yield line({ kind, at, reference: ref, note, credit_usd: usd(amount_nano_usd) });
  }
  for (const { key, cost_nano_usd, ...rest } of statement.lines) {
    yield line({ ...rest, kind: 'charges', key_id: key, charge_usd: usd(cost_nano_usd) });
  }
  if (closing !== null) yield line({ kind: 'closing', at: statement.to, balance_usd: usd(closing) });
}
