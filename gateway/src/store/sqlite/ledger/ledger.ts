/**
 * Implements the ledger port over the writer: validates requests here, then writes them there or, while the store
 * accepts no writes, into the spool.
 */
import { type Kysely, sql } from 'kysely';
import type { NewAuditEntry } from '../../ports/audit.ts';
import type { AccountBalance, AccountMode, Ledger, Movement, Settlement } from '../../ports/ledger.ts';
import { ConstraintViolation, OutcomeUnknown } from '../../ports/store-errors.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import {
  keepCheckpoint,
  keepExtension,
  keepHold,
  keepMovement,
  keepRecord,
  keepSettlement,
  type MovementKind,
  type Operation,
} from '../operations/ledger-operations.ts';
import type { Writer } from '../operations/writer.ts';
import type { Spool } from '../spool/spool.ts';

/** Implements the port. */
export function createLedger(
  queries: Kysely<Tables>,
  writer: Pick<Writer, 'keep' | 'keepUnhurried'>,
  spool: Pick<Spool, 'keep' | 'keepLater' | 'provideFor' | 'writable'>,
  ends: Pick<UnsavedSettlements, 'end'>,
): Ledger {
  /** Running calls whose hold is on disk: only for these does the spool accept what the ledger does not. */
  const held = new Set<string>();

  function keepHeld(call_id: string, operation: Operation): Promise<void> {
    return held.has(call_id) ? spool.keep(call_id, operation) : writer.keep(operation);
  }

  function keepChecked(problem: string | null, operation: () => Operation): Promise<void> {
    if (problem !== null) return Promise.reject(new ConstraintViolation('invalid', problem));
    return writer.keep(operation());
  }

  async function move(kind: MovementKind, movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance> {
    await keepChecked(movementProblem(kind, movement), () => keepMovement(kind, movement, entry));
    const [balance] = await readBalances(queries, movement.account).catch(() => []);
    if (balance === undefined)
      throw new OutcomeUnknown(`The ${kind} ${movement.id} was stored, but the balance after it cannot be read.`);
    return balance;
  }

  return {
    async hold(hold) {
      const { request_id, stream } = hold.draft;
      refuse(textProblem('request_id', request_id));
      // The first byte of a stream waits for its hold. For a plain call only the settlement waits, and it is written
      // after the hold.
      await (stream ? writer.keep(keepHold(hold)) : writer.keepUnhurried(keepHold(hold)));
      held.add(request_id);
      spool.provideFor(held.size);
    },
    extend: (call_id, nth, amount) => keepHeld(call_id, keepExtension(call_id, nth, amount)),
    checkpoint: (checkpoint) => keepChecked(null, () => keepCheckpoint(checkpoint)),
    settle(settlement) {
      const problem = settlementProblem(settlement);
      if (problem !== null) return Promise.reject(new ConstraintViolation('invalid', problem));
      const { request_id } = settlement.record;
      if (held.has(request_id)) {
        held.delete(request_id);
        return spool.keep(request_id, keepSettlement(settlement));
      }
      // Its hold may still be in progress; it reaches the disk before this.
      return writer.keep(keepSettlement(settlement)).finally(() => held.delete(request_id));
    },
    async settleUnheld(settlement) {
      refuse(settlementProblem(settlement) ?? postProblem(settlement));
      const { request_id } = settlement.record;
      held.delete(request_id);
      await spool.keepLater(request_id, keepSettlement(settlement));
    },
    append: (record) => keepChecked(unheldProblem(record.cost_nano_usd), () => keepRecord(record)),
    abandon(call_id) {
      held.delete(call_id);
      return ends.end(call_id);
    },
    topup: (movement, entry) => move('topup', movement, entry),
    correct: (movement, entry) => move('correct', movement, entry),
    readMovement: (kind, id) => readMovement(queries, kind, id),
    readBalances: (account) => readBalances(queries, account ?? null),
    writable: spool.writable,
  };
}

/** @throws ConstraintViolation where there is a problem. */
function refuse(problem: string | null): void {
  if (problem !== null) throw new ConstraintViolation('invalid', problem);
}

function unheldProblem(cost: string | null): string | null {
  if (cost === null || cost === '0') return null;
  return `The record of a call that held nothing: found cost_nano_usd ${cost}, expected 0 or null. Hold the call first, and settle it.`;
}

function settlementProblem({ record, posted, released, writtenOff }: Settlement): string | null {
  if (posted < 0n || released < 0n || writtenOff < 0n)
    return `The settlement of call ${record.request_id}: found posted ${posted}, released ${released} and written off ${writtenOff}, expected 0 or more of each.`;
  const cost = record.cost_nano_usd ?? '0';
  if (cost === (posted + writtenOff).toString()) return null;
  return `The settlement of call ${record.request_id}: found posted ${posted} and written off ${writtenOff}, expected the sum ${cost}, which is the record's cost_nano_usd.`;
}

function postProblem({ record, posted }: Settlement): string | null {
  if (posted === 0n) return null;
  return `The settlement of call ${record.request_id}, whose hold may not have been stored: found posted ${posted}, expected 0. Write its cost off.`;
}

function movementProblem(kind: MovementKind, { id, account, note }: Movement): string | null {
  return textProblem(`the ${kind}'s id`, id) ?? textProblem('account', account) ?? textProblem('note', note ?? '');
}

/** Hashed text must come back from the database unchanged. */
function textProblem(name: string, text: string): string | null {
  if (text.isWellFormed()) return null;
  return `${name}: found half of a surrogate pair in ${JSON.stringify(text)}, expected well-formed text.`;
}

/** Null: no movement of that kind and id. */
async function readMovement(queries: Kysely<Tables>, kind: MovementKind, id: string): Promise<Movement | null> {
  // The kind is a literal: with a bound kind SQLite could not use the partial index, which covers only some kinds.
  const { rows } = await sql<Omit<Movement, 'amount'> & { readonly amount: string }>`
    SELECT ref AS id, account, cast(amount AS TEXT) AS amount, note, at_ms
    FROM ledger_entry WHERE ref = ${id} AND kind = ${sql.lit(kind)} AND nth = 0`.execute(queries);
  const [row] = rows;
  return row === undefined ? null : { ...row, amount: BigInt(row.amount) };
}

/**
 * Tracks calls that could not be ended because the store was unavailable, and ends them once it accepts writes again,
 * so that their holds do not stay until the next start.
 */
interface UnsavedSettlements {
  /** Ends the call now; where that is not stored, rejects and retries later. */
  end(call_id: string): Promise<void>;
  /** Call when the store accepts writes again. */
  endAll(): void;
}

/** `abandon` ends one call, and does nothing for a call that holds nothing: some settlements were stored after all. */
export function createUnsavedSettlements(abandon: (call_id: string) => Promise<void>): UnsavedSettlements {
  const waiting = new Set<string>();
  async function end(call_id: string): Promise<void> {
    waiting.add(call_id);
    await abandon(call_id);
    waiting.delete(call_id);
  }
  return {
    end,
    endAll() {
      // If the store is unavailable again, the calls stay for the next time, at the latest for the next start.
      for (const call_id of waiting) end(call_id).catch(() => undefined);
    },
  };
}

/** Amounts as decimal text: beyond 2^53 a number would silently lose its last digits. */
interface BalanceRow {
  readonly account: string;
  readonly mode: AccountMode;
  readonly available: string;
  readonly held: string;
  readonly charged: string;
  readonly writtenOff: string;
  readonly topped_up: string;
}

/** Reads the balances of all accounts by id, or of one; an account without entries has only zeros. */
export async function readBalances(
  queries: Kysely<Tables>,
  account: string | null = null,
): Promise<readonly AccountBalance[]> {
  const { rows } = await sql<BalanceRow>`
    SELECT account.id AS account, mode,
      cast(coalesce(available, 0) AS TEXT) AS available, cast(coalesce(held, 0) AS TEXT) AS held,
      cast(coalesce(charged, 0) AS TEXT) AS charged, cast(coalesce(absorbed, 0) AS TEXT) AS writtenOff,
      cast(coalesce(topped_up, 0) AS TEXT) AS topped_up
    FROM account LEFT JOIN account_balance ON account_balance.account = account.id
    WHERE ${account} IS NULL OR account.id = ${account}
    ORDER BY account.id`.execute(queries);
  return rows.map((row) => ({
    account: row.account,
    mode: row.mode,
    available: BigInt(row.available),
    held: BigInt(row.held),
    charged: BigInt(row.charged),
    writtenOff: BigInt(row.writtenOff),
    toppedUp: BigInt(row.topped_up),
  }));
}
