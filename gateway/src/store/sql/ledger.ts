/** Owns the ledger's port over the writer: what is asked for is checked here, then kept there. Knows no SQL. */
import type { Kysely } from 'kysely';
import type { AccountBalance, Ledger, Movement, Settlement } from '../ledger-port.ts';
import { readBalances } from './account-balances.ts';
import {
  keepCheckpoint,
  keepExtension,
  keepHold,
  keepMovement,
  keepRecord,
  keepSettlement,
  type MovementKind,
  type Operation,
} from './ledger-operations.ts';
import { StoreFailure } from './store-failure.ts';
import type { Tables } from './tables.ts';
import type { UnkeptEnds } from './unkept-ends.ts';
import type { Writer } from './writer.ts';

/** The port's implementation. Every rejection is a StoreFailure. */
export function createLedger(
  queries: Kysely<Tables>,
  writer: Pick<Writer, 'keep' | 'writable'>,
  ends: Pick<UnkeptEnds, 'end'>,
): Ledger {
  function keepChecked(problem: string | null, operation: () => Operation): Promise<void> {
    if (problem !== null) return Promise.reject(new StoreFailure('refused', problem));
    return writer.keep(operation());
  }

  async function move(kind: MovementKind, movement: Movement): Promise<AccountBalance> {
    await keepChecked(movementProblem(kind, movement), () => keepMovement(kind, movement));
    const [balance] = await readBalances(queries, movement.account);
    if (balance === undefined) throw new Error(`the account ${movement.account} is gone`);
    return balance;
  }

  return {
    hold: (hold) => keepChecked(textProblem('request_id', hold.draft.request_id), () => keepHold(hold)),
    extend: (call_id, nth, amount) => keepChecked(null, () => keepExtension(call_id, nth, amount)),
    checkpoint: (checkpoint) => keepChecked(null, () => keepCheckpoint(checkpoint)),
    settle: (settlement) => keepChecked(settlementProblem(settlement), () => keepSettlement(settlement)),
    append: (record) => keepChecked(unheldProblem(record.cost_nano_usd), () => keepRecord(record)),
    abandon: ends.end,
    topup: (movement) => move('topup', movement),
    correct: (movement) => move('correct', movement),
    readBalances: () => readBalances(queries),
    writable: writer.writable,
  };
}

function unheldProblem(cost: string | null): string | null {
  if (cost === null || cost === '0') return null;
  return `The record of a call that held nothing: found cost_nano_usd ${cost}, expected 0 or null. Hold the call first, and settle it.`;
}

function settlementProblem({ record, posted, released, absorbed }: Settlement): string | null {
  for (const [name, amount] of Object.entries({ posted, released, absorbed })) {
    if (amount < 0n) return `The settlement of call ${record.request_id}: found ${name} ${amount}, expected 0 or more.`;
  }
  const cost = record.cost_nano_usd ?? '0';
  if (cost === (posted + absorbed).toString()) return null;
  return `The settlement of call ${record.request_id}: found posted ${posted} and absorbed ${absorbed}, expected the sum ${cost}, which is the record's cost_nano_usd.`;
}

function movementProblem(kind: MovementKind, { id, account, note }: Movement): string | null {
  return textProblem(`the ${kind}'s id`, id) ?? textProblem('account', account) ?? textProblem('note', note ?? '');
}

/** What goes into a hash must come back from the database as it was. */
function textProblem(name: string, text: string): string | null {
  if (text.isWellFormed()) return null;
  return `${name}: found half of a surrogate pair in ${JSON.stringify(text)}, expected well-formed text.`;
}
