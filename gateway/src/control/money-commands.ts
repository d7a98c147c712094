/** Defines the commands that move an account's money: top-ups and corrections. The cost of calls is not moved here. */
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';
import { generateId } from '../identity/key-format.ts';
import type { NewAuditEntry } from '../store/ports/audit.ts';
import type { AccountBalance, Movement } from '../store/ports/ledger.ts';
import { givenId, movementId, movementNote, usdCorrection, usdMoved } from './arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findAccount,
  type Json,
} from './command.ts';

import { viewMovement } from './views.ts';

/**
 * The client may provide `id`: a movement with an unknown outcome can be repeated, because the same id moves money
 * once. The reply describes the first movement, whatever note the repetition has.
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

type MovementKind = 'topup' | 'correct';

interface GivenMovement {
  readonly account: string;
  readonly usd: bigint;
  readonly note: string | null;
  readonly id?: string | undefined;
}

function newMovement(run: CommandRun, { account, usd, note, id = generateId('mov') }: GivenMovement): Movement {
  return { id, account: findAccount(run, account).id, amount: usd, note, at_ms: run.nowMs() };
}

/** Commands run one after another: no other command can make this movement between the look-up and the write. */
async function move(run: CommandRun, kind: MovementKind, movement: Movement): Promise<Json> {
  const { id, account, amount } = movement;
  const [balance] = await run.ledger.readBalances(account);
  const kept = await run.ledger.readMovement(kind, id);
  if (kept !== null && balance !== undefined) {
    if (kept.account !== account || kept.amount !== amount)
      throw new CommandFailure(wordsOfOther(kind, kept, movement));
    return viewMovement(kept, balance, 0n);
  }
  if (balance !== undefined) refuseOverdraft(balance, amount);
  const after = await run.ledger[kind](movement, auditMovement(run, movement)).catch((fault: unknown) =>
    findMoved(run, kind, movement, fault),
  );
  await run.credit(account, amount);
  return viewMovement(movement, after, amount);
}

/** A writer that died may have made the movement already: then returns the balance, else throws the fault again. */
async function findMoved(run: CommandRun, kind: MovementKind, { id, account }: Movement, fault: unknown) {
  const kept = await run.ledger.readMovement(kind, id).catch(() => null);
  const [balance] = kept === null ? [] : await run.ledger.readBalances(account);
  if (balance === undefined) throw fault;
  return balance;
}

function wordsOfOther(kind: MovementKind, kept: Movement, { id, account, amount }: Movement): string {
  const what = kind === 'topup' ? 'topup' : 'correction';
  return `The ${what} ${id} moved ${formatNanoUsd(kept.amount)} USD of the account ${kept.account} earlier and cannot be ${formatNanoUsd(amount)} USD of ${account} now. Use another id for another movement.`;
}

/** The ledger decides, because calls run meanwhile; its message is not in the unit of the request. */
function refuseOverdraft({ account, mode, available }: AccountBalance, amount: bigint): void {
  if (mode !== 'prepaid' || amount >= 0n || available + amount >= 0n) return;
  const most = available > 0n ? `Debit at most ${formatNanoUsd(available)}.` : 'There is nothing to debit.';
  throw new CommandFailure(
    `The account ${account} is prepaid and has ${formatNanoUsd(available)} USD available, less than ${formatNanoUsd(-amount)} USD. ${most}`,
  );
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
