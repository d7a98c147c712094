/**
 * Defines the commands for accounts: billing mode (prepaid or postpaid), markup and other settings, top-ups and
 * corrections.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { changeZone } from '../admission/window.ts';
import { formatNanoUsd } from '../billing/money.ts';
import { generateId } from '../identity/key-format.ts';
import type { NewAuditEntry } from '../store/ports/audit.ts';
import type { AccountBalance, AccountMode, Movement } from '../store/ports/ledger.ts';
import type { Subject } from '../store/ports/limits.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import {
  accountMode,
  accountName,
  capArguments,
  givenId,
  holdMode,
  markUpPercent,
  movementId,
  movementNote,
  newId,
  timeZone,
  usdCorrection,
  usdMoved,
} from './arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  type ControlContext,
  defineCommand,
  findAccount,
  type Json,
} from './command.ts';
import {
  auditChange,
  chooseRuleChange,
  type LayeredCaps,
  layeredCapsOf,
  NO_LAYERED_CAPS,
  type ShownMembers,
  storeChanges,
} from './policy-changes.ts';
import { viewAccount, viewMovement } from './views.ts';

const list = defineCommand(z.strictObject({}), async ({ directory, limits, ledger }) => {
  const balances = new Map((await ledger.readBalances()).map((balance) => [balance.account, balance]));
  return [...directory.accounts.values()].map((account) =>
    viewAccount(account, balances.get(account.id) ?? null, layeredCapsOf({ limits }, subjectOf(account.id))),
  );
});

const create = defineCommand(
  z.strictObject({
    id: newId,
    name: accountName.optional(),
    mode: accountMode.default('postpaid'),
    mark_up_percent: markUpPercent.prefault('0'),
    time_zone: timeZone.default('UTC'),
    holds: holdMode.default(null),
    ...capArguments,
  }),
  async (context, given) => {
    if (context.directory.accounts.has(given.id)) {
      throw new CommandFailure(
        `The account ${given.id} already exists. Change it: tollgate accounts set ${given.id} --mode MODE`,
      );
    }
    const account: StoredAccount = {
      id: given.id,
      name: given.name ?? given.id,
      mode: given.mode,
      markUpPpm: given.mark_up_percent,
      timeZone: given.time_zone,
      holds: given.holds,
      createdAtMs: context.nowMs(),
    };
    const { changes, caps } = chooseRuleChange(context, subjectOf(account.id), account.id, given);
    const entries = auditAccount(context, null, { account, caps });
    await context.policies.save([{ of: 'account', isNew: true, account }, ...changes], entries);
    return viewAccount(account, null, caps);
  },
);

const set = defineCommand(
  z.strictObject({
    id: givenId,
    name: accountName.optional(),
    mode: accountMode.optional(),
    mark_up_percent: markUpPercent.optional(),
    time_zone: timeZone.optional(),
    holds: holdMode.optional(),
    ...capArguments,
  }),
  async (context, given) => {
    const before = findAccount(context, given.id);
    const balance = await readBalance(context, before.id);
    requireAuthority(context, given);
    const { windowZones, ...rest } = before;
    const zones =
      given.time_zone === undefined || given.time_zone === before.timeZone
        ? before
        : changeZone(before, given.time_zone, context.nowMs());
    const account: StoredAccount = {
      ...rest,
      name: given.name ?? before.name,
      mode: chooseMode(before, given.mode, balance),
      markUpPpm: given.mark_up_percent ?? before.markUpPpm,
      timeZone: zones.timeZone,
      ...(zones.windowZones === undefined ? {} : { windowZones: zones.windowZones }),
      holds: given.holds === undefined ? before.holds : given.holds,
    };
    const { changes, caps } = chooseRuleChange(context, subjectOf(account.id), account.id, given);
    const isChanged = !isDeepStrictEqual(before, account);
    const entries = auditAccount(context, before, { account, caps });
    const changed = isChanged ? [{ of: 'account', isNew: false, account } as const] : [];
    await storeChanges(context, [...changed, ...changes], entries);
    return viewAccount(account, balance, caps);
  },
);

/** Settings that only the operator decides. @throws CommandFailure if another authority asks for them. */
function requireAuthority({ by }: CommandRun, given: object): void {
  if (by.authority === 'operator') return;
  const found = ['mode', 'mark_up_percent', 'holds'].find(
    (member) => (given as Readonly<Record<string, unknown>>)[member] !== undefined,
  );
  if (found === undefined) return;
  throw new CommandFailure(`${found}: only the operator of this gateway can change it; ask them`, 'forbidden');
}

/** An enforced balance cannot start below zero. @throws CommandFailure if it would. */
function chooseMode(
  before: StoredAccount,
  requestedMode: AccountMode | undefined,
  balance: AccountBalance | null,
): AccountMode {
  const available = balance?.available ?? 0n;
  if (before.mode === 'postpaid' && requestedMode === 'prepaid' && available < 0n) {
    const missing = formatNanoUsd(-available);
    throw new CommandFailure(
      `The account ${before.id} is ${missing} USD below zero, which a prepaid account cannot be. First run: tollgate topup ${before.id} --usd ${missing}`,
    );
  }
  return requestedMode ?? before.mode;
}

async function readBalance({ ledger }: ControlContext, account: string): Promise<AccountBalance | null> {
  const [balance] = await ledger.readBalances(account);
  return balance ?? null;
}

function auditAccount(
  run: CommandRun,
  before: StoredAccount | null,
  { account, caps }: { readonly account: StoredAccount; readonly caps: LayeredCaps },
) {
  const capsBefore = before === null ? NO_LAYERED_CAPS : layeredCapsOf(run, subjectOf(before.id));
  return auditChange(run, {
    account: account.id,
    workspace: null,
    subject: subjectOf(account.id),
    before: before === null ? null : withoutMoney(viewAccount(before, null, capsBefore)),
    after: withoutMoney(viewAccount(account, null, caps)),
  });
}

/** Amounts that calls change all the time are not a change of the account. */
function withoutMoney(view: ShownMembers): ShownMembers {
  return Object.fromEntries(
    Object.entries(view).filter(([member]) => !/_nano_usd$/.test(member) || member.includes('budget')),
  );
}

function subjectOf(id: string): Subject {
  return { kind: 'account', id };
}

export const ACCOUNT_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['accounts.list', list],
  ['accounts.create', create],
  ['accounts.set', set],
];

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
  const after = await run.credit(account, amount, () =>
    run.ledger[kind](movement, auditMovement(run, movement)).catch((fault: unknown) =>
      findMoved(run, kind, movement, fault),
    ),
  );
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
