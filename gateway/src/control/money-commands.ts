/** Owns the commands that move an account's money: what comes in, and what is put right. What calls cost is not moved here. */
import { z } from 'zod';
import { generateId } from '../identity/key-format.ts';
import type { AccountBalance, Movement } from '../store/ledger-port.ts';
import { givenId, movementId, movementNote } from './arguments.ts';
import { type ControlCommand, type ControlContext, defineCommand, type Json } from './command.ts';
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
    const movement = newMovement(context, given.account, given.usd, given.note, given.id);
    const [before] = await context.ledger.readBalances(movement.account);
    const after = await context.ledger.topup(movement);
    // Commands run one after another, and nothing but they tops up: the difference is this movement, or none.
    const moved = after.toppedUp - (before?.toppedUp ?? 0n);
    return conclude(context, movement, after, moved);
  },
);

const correct = defineCommand(
  z.strictObject({ account: givenId, usd: usdCorrection, note: movementNote }),
  async (context, given) => {
    const movement = newMovement(context, given.account, given.usd, given.note);
    return conclude(context, movement, await context.ledger.correct(movement), movement.amount);
  },
);

function newMovement(
  context: ControlContext,
  account: string,
  amount: bigint,
  note: string | null,
  id = generateId('mov'),
): Movement {
  return { id, account: findAccount(context, account).id, amount, note, at_ms: context.nowMs() };
}

async function conclude(
  context: ControlContext,
  movement: Movement,
  after: AccountBalance,
  moved: bigint,
): Promise<Json> {
  if (moved !== 0n) await context.credit(movement.account, moved);
  return viewMovement(movement, after, moved);
}

export const MONEY_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['accounts.topup', topup],
  ['accounts.correct', correct],
];
