/** Owns the commands that move an account's money: what comes in, and what is put right. What calls cost is not moved here. */
import { z } from 'zod';
import { generateId } from '../identity/key-format.ts';
import type { NewAuditEntry } from '../store/audit-port.ts';
import type { AccountBalance, Movement } from '../store/ledger-port.ts';
import { givenId, movementId, movementNote } from './arguments.ts';
import { type CommandRun, type ControlCommand, defineCommand, type Json } from './command.ts';
import { findAccount } from './find.ts';
import { usdCorrection, usdMoved } from './money-arguments.ts';
import { viewMovement } from './views.ts';

/**
 * `id` may be given by whoever asks: a top-up of which nobody knows whether it came through can be asked for again, for
 * the same id moves once.
 */
const topup = defineCommand(
  z.strictObject({
    account: givenId,
    usd: usdMoved,
    note: movementNote.nullable().default(null),
    id: movementId.optional(),
  }),
  async (context, given) => {
    return move(context, 'topup', newMovement(context, given));
  },
);

const correct = defineCommand(
  z.strictObject({ account: givenId, usd: usdCorrection, note: movementNote, id: movementId.optional() }),
  async (context, given) => move(context, 'correct', newMovement(context, given)),
);

interface GivenMovement {
  readonly account: string;
  readonly usd: bigint;
  readonly note: string | null;
  readonly id?: string | undefined;
}

function newMovement(run: CommandRun, { account, usd, note, id = generateId('mov') }: GivenMovement): Movement {
  return { id, account: findAccount(run, account).id, amount: usd, note, at_ms: run.nowMs() };
}

async function move(run: CommandRun, kind: 'topup' | 'correct', movement: Movement): Promise<Json> {
  const [before] = await run.ledger.readBalances(movement.account);
  const after = await run.ledger[kind](movement, auditMovement(run, movement));
  // Calls move money within the sum, commands run one after another: the difference is this movement, or none.
  const moved = wholeOf(after) - (before === undefined ? 0n : wholeOf(before));
  if (moved !== 0n) await run.credit(movement.account, moved);
  return viewMovement(movement, after, moved);
}

/** What was topped up and corrected, ever. */
function wholeOf({ available, held, charged }: AccountBalance): bigint {
  return available + held + charged;
}

function auditMovement(run: CommandRun, { id, account, amount, note, at_ms }: Movement): NewAuditEntry {
  return {
    atMs: at_ms,
    account,
    workspace: null,
    by: run.by,
    act: run.act,
    subject: { kind: 'account', id: account },
    before: null,
    after: { movement: id, moved_nano_usd: amount.toString(), note },
  };
}

export const MONEY_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['accounts.topup', topup],
  ['accounts.correct', correct],
];
