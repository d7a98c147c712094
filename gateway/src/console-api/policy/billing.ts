/** Serves accounts: their settings, their ledger, and its statement as a CSV file. */
import { formatNanoUsd } from '../../billing/money.ts';
import { NO_LAYERED_CAPS } from '../../control/policy-changes.ts';
import { viewAccount } from '../../control/views.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { csvLine } from '../../lib/tables/csv-line.ts';
import type { AccountBalance, DayCharge, ShownEntry, Statement } from '../../store/ports/ledger.ts';
import type { StoredAccount } from '../../store/ports/policy.ts';
import { CONSOLE_ROUTES, type Reply } from '../contract/contract.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { dateIn, readRange } from '../kernel/time-range.ts';
import { showTime } from './limits.ts';
import { findAccount, type PolicyParts, runCommand } from './policy-parts.ts';

const PAGE_ENTRIES = 100;

export function billingHandlers(parts: PolicyParts) {
  const { statements, deps } = parts;
  return {
    'GET /accounts/{account}/billing': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      const only = query.kind === 'money' ? 'movements' : 'all';
      const [account, page] = await Promise.all([
        readAccount(parts, id),
        statements.readEntries(id, only, requireCursor(query.before), PAGE_ENTRIES),
      ]);
      return { account, entries: page.entries.map(showEntry), next: page.next };
    },
    'GET /accounts/{account}/billing.csv': async ({ tenancy, query }) => {
      const { id } = findAccount(parts, tenancy);
      const [fromMs, toMs] = readRange(query);
      const nowMs = parts.nowMs();
      if (fromMs > nowMs) {
        const message = `from: found ${query.from}, expected a time in the past`;
        throw new ConsoleFailure('invalid', message, { member: 'from' });
      }
      const zone = deps.billing.timeZoneOf(id);
      // The requested range may end with the month; the data ends now.
      const closedMs = Math.min(toMs, nowMs);
      const statement = await statements.readStatement(id, { fromMs, toMs }, zone);
      const name = `tollgate-statement-${id}-${dateIn(zone, fromMs)}-to-${dateIn(zone, Math.max(fromMs, closedMs - 1))}.csv`;
      return { name, lines: renderStatement(statement, { zone, fromMs, closedMs }) };
    },
  } satisfies Partial<Handlers>;
}

/** The positions that pages end with: a request's or movement's, or the number of an entry from before the journal. */
const CURSOR = /^(?:req_[\da-f]|#[1-9]\d{0,15}$)/;

/** @throws ConsoleFailure `invalid` */
function requireCursor(before: string | undefined): string | null {
  if (before === undefined || CURSOR.test(before)) return before ?? null;
  const message = `before: found ${JSON.stringify(before)}, expected the \`next\` of an earlier page`;
  throw new ConsoleFailure('invalid', message, { member: 'before' });
}

function showEntry({ atMs, kind, ref, amount, released, note }: ShownEntry) {
  const [amount_nano_usd, released_nano_usd] = [amount.toString(), released.toString()];
  return { at: showTime(atMs), kind, ref, amount_nano_usd, released_nano_usd, note };
}

interface Line {
  /** In the account's time zone. The charges of a day come last. */
  readonly date: string;
  readonly atMs: number;
  /** The columns from `date` to `calls`. */
  readonly cells: readonly (string | number | null)[];
  readonly amount: bigint;
}

const HEAD = [
  'date',
  'kind',
  'ref',
  'note',
  'workspace',
  'model',
  'key_id',
  'key_name',
  'calls',
  'amount_usd',
  'balance_usd',
];

/**
 * Opening balance, each day's movements and its charges by workspace, model and key, closing balance. Each line's balance is the
 * previous balance plus its amount. `closedMs`: the time of the closing balance.
 */
export async function* renderStatement(
  { opening, closing, movements, charges }: Statement,
  { zone, fromMs, closedMs }: { readonly zone: string; readonly fromMs: number; readonly closedMs: number },
): AsyncGenerator<string> {
  yield csvLine([...HEAD]);
  yield boundLine('opening', fromMs, opening);
  const lines: Line[] = movements.map(({ atMs, kind, ref, note, amount }) => ({
    date: dateIn(zone, atMs),
    atMs,
    cells: [showTime(atMs), kind, ref, note, null, null, null, null, null],
    amount,
  }));
  lines.push(...[...charges].sort(byMost).map((charge) => renderCharge(charge, zone)));
  let balance = opening;
  for (const { cells, amount } of lines.sort(byDate)) {
    balance += amount;
    yield csvLine([...cells, formatNanoUsd(amount), formatNanoUsd(balance)]);
  }
  if (balance !== closing) throw new Error(`the statement ends at ${balance} nano-USD, its account at ${closing}`);
  yield boundLine('closing', closedMs, closing);
}

function boundLine(kind: string, atMs: number, balance: bigint): string {
  return csvLine([showTime(atMs), kind, null, null, null, null, null, null, null, null, formatNanoUsd(balance)]);
}

/** Keeps the order of lines with the same day and time. */
function byDate(one: Line, other: Line): number {
  if (one.date !== other.date) return one.date < other.date ? -1 : 1;
  return one.atMs === other.atMs ? 0 : one.atMs < other.atMs ? -1 : 1;
}

/** Sorts a day's charges, highest first. */
function byMost(one: DayCharge, other: DayCharge): number {
  return one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1;
}

function renderCharge({ dayMs, workspace, model, keyId, keyName, calls, amount }: DayCharge, zone: string): Line {
  const date = dateIn(zone, dayMs);
  const cells = [date, 'charges', null, null, workspace, model, keyId, keyName, calls];
  return { date, atMs: Number.POSITIVE_INFINITY, cells, amount: -amount };
}

export function accountHandlers(parts: PolicyParts) {
  const { deps, ledger, control } = parts;
  return {
    'GET /accounts': async () => {
      const balances = new Map((await ledger.readBalances()).map((balance) => [balance.account, balance]));
      const accounts = [...deps.directory.accounts.values()];
      const reply = CONSOLE_ROUTES['GET /accounts'].reply;
      return reply.parse({
        accounts: accounts.map((account) => viewAccount(account, balances.get(account.id) ?? null, NO_LAYERED_CAPS)),
      });
    },
    'POST /accounts': async (call) => {
      const { id } = call.body;
      if (deps.directory.accounts.has(id)) {
        throw new ConsoleFailure('conflict', `id: the account ${id} already exists; change it, or choose another id`, {
          member: 'id',
        });
      }
      await runCommand(control, call, 'accounts.create', call.body);
      return readAccount(parts, id);
    },
    'PATCH /accounts/{account}': async (call) => {
      const { id } = findAccount(parts, call.tenancy);
      await runCommand(control, call, 'accounts.set', { id, ...call.body });
      return readAccount(parts, id);
    },
    'POST /accounts/{account}/topup': async (call) => {
      const account = findAccount(parts, call.tenancy).id;
      await runCommand(control, call, 'accounts.topup', { account, ...call.body });
      return readAccount(parts, account);
    },
    'POST /accounts/{account}/correct': async (call) => {
      const account = findAccount(parts, call.tenancy).id;
      await runCommand(control, call, 'accounts.correct', { account, ...call.body });
      return readAccount(parts, account);
    },
  } satisfies Partial<Handlers>;
}

type ShownAccount = Reply<'POST /accounts'>;

/** The account as its members see it: without its caps, which have their own page, and the operator's costs. */
function showAccount(account: StoredAccount, balance: AccountBalance | null): ShownAccount {
  return CONSOLE_ROUTES['POST /accounts'].reply.parse(viewAccount(account, balance, NO_LAYERED_CAPS));
}

export async function readAccount(
  { deps, ledger }: Pick<PolicyParts, 'deps' | 'ledger'>,
  id: string,
): Promise<ShownAccount> {
  const account = deps.directory.accounts.get(id);
  if (account === undefined) throw new Error(`the account ${id} is gone`);
  return showAccount(account, (await ledger.readBalances()).find((balance) => balance.account === id) ?? null);
}
