/**
 * Implements the ledger port over the journal: checks the values, decides in memory, then appends a frame. The read model
 * cannot refuse what the journal has, so nothing is appended that its tables cannot store. It is asked only for earlier
 * movements.
 */

import type { Usage } from '../../generation/usage.ts';
import type { NewAuditEntry } from '../ports/audit.ts';
import type { Journal } from '../ports/journal.ts';
import type {
  AccountBalance,
  AccountMode,
  CallDraft,
  Checkpoint,
  Ledger,
  Movement,
  Settlement,
} from '../ports/ledger.ts';
import type { AttemptRecord, CallRecord, CallRecorder } from '../ports/records.ts';
import { ConstraintViolation, createStoreError, StoreError } from '../ports/store-errors.ts';
import type { Recovered, UnendedCall } from './end-unended.ts';
import { absorb, BalanceBook, foldInto, sumAttempts } from './fold-balance.ts';
import { OpenCalls } from './open-calls.ts';

type MovementKind = 'topup' | 'correct';

interface LedgerParts {
  readonly journal: Journal;
  /** Of all accounts, as the journal's frames left them. */
  readonly balances: readonly AccountBalance[];
  /** The calls that the previous process left open. */
  readonly left: readonly UnendedCall[];
  /** Looks among the movements that are in the read model. */
  findMovement(kind: MovementKind, id: string): Promise<Movement | null>;
  /** Resolves once everything in the journal is in the read model; rejects where that cannot be. */
  caughtUp(): Promise<void>;
}

export interface OpenedLedger {
  readonly ledger: Ledger;
  readonly recorder: CallRecorder;
  readonly recovered: Recovered;
  /** Applies a stored account from now on. */
  setAccount(id: string, mode: AccountMode): void;
  /** The balances at this moment. */
  readNow(): readonly AccountBalance[];
  /** Appends the holds that wait for their end. */
  appendHolds(): void;
  /** The same, and takes no more calls; call before the journal is closed. */
  close(): void;
}

const KEPT = Promise.resolve();
/** Movements in memory; with more they are looked up in the read model. */
const RECENT_MAX = 1_000;

/** Opens the ledger, and ends the calls that the previous process left open, except detached ones. */
export function createLedger({ journal, balances, left, findMovement, caughtUp }: LedgerParts): OpenedLedger {
  const book = new BalanceBook(balances);
  const calls = new OpenCalls(journal, book);
  let moving: Promise<unknown> = KEPT;
  /** The durable movements of this process that may not be in the read model yet. */
  const recent = new Map<string, Movement>();
  const recovered = { posted: 0, voided: 0 };
  for (const call of left) {
    if (call.job !== null) calls.goOn(call);
    else recovered[calls.endLeft(call, 'gateway_crashed') ? 'posted' : 'voided'] += 1;
  }

  function appendRecord(record: CallRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      checkUnheld(record);
      if (calls.has(record.request_id))
        throw new ConstraintViolation(
          'conflict',
          `The call ${record.request_id} holds money; its record comes with its settlement.`,
        );
      const attempts = sumAttempts(record);
      const account = attempts === 0n ? null : book.find(record.account);
      const onDurable = () => {
        if (account !== null) absorb(account, 'absorb_attempts', attempts);
        resolve();
      };
      journal.append({ kind: 'refused', record }, { onDurable, onRefused: reject });
    });
  }

  /** One movement at a time: a repeated one must find the first. */
  function moveNext(of: MovementKind, movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance> {
    const moved = moving.then(() => move(of, movement, entry ?? null));
    moving = moved.catch(() => undefined);
    return moved;
  }

  async function move(of: MovementKind, movement: Movement, audit: NewAuditEntry | null): Promise<AccountBalance> {
    checkMovement(of, movement);
    const before = await readMovement(of, movement.id);
    if (before !== null && (before.account !== movement.account || before.amount !== movement.amount))
      throw new ConstraintViolation(
        'conflict',
        `The ${of} ${movement.id} moved ${before.amount} nano-USD of account ${before.account} before; it cannot be another one now.`,
      );
    if (before === null) {
      if (recent.size >= RECENT_MAX) {
        await caughtUp();
        recent.clear();
      }
      await append(of, movement, audit);
    }
    const [balance] = book.read(movement.account);
    if (balance === undefined) throw new Error(`the account ${movement.account} is in the journal but not in memory`);
    return balance;
  }

  async function readMovement(of: MovementKind, id: string): Promise<Movement | null> {
    return recent.get(`${of} ${id}`) ?? findMovement(of, id);
  }

  /** A debit binds at once, a credit once it is durable. */
  function append(of: MovementKind, movement: Movement, audit: NewAuditEntry | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const account = book.find(movement.account);
      const folded = foldInto(account, of, movement.amount);
      if (folded instanceof StoreError)
        throw createStoreError(folded.kind, `The ${of} was refused: ${folded.message}.`);
      const { amount } = movement;
      const toppedUp = of === 'topup' ? amount : 0n;
      const isDebit = amount < 0n;
      const add = (change: bigint) => {
        const { available } = account.balance;
        account.balance = { ...account.balance, available: available + change };
      };
      if (isDebit) add(amount);
      journal.append(
        { kind: 'movement', of, movement, prepaid: account.prepaid, audit },
        {
          onDurable() {
            if (!isDebit) add(amount);
            recent.set(`${of} ${movement.id}`, movement);
            account.balance = { ...account.balance, toppedUp: account.balance.toppedUp + toppedUp };
            resolve();
          },
          onRefused(failure) {
            if (isDebit) add(-amount);
            reject(failure);
          },
        },
      );
    });
  }

  const ledger: Ledger = {
    hold(hold) {
      try {
        checkDraft(hold.draft);
        return calls.hold(hold) ?? KEPT;
      } catch (failure) {
        return Promise.reject(failure);
      }
    },
    writeHold: (call_id) => calls.writeHold(call_id),
    extend: async (call_id, nth, amount) => calls.extend(call_id, nth, amount),
    async checkpoint(checkpoint) {
      checkCheckpoint(checkpoint);
      calls.checkpoint(checkpoint);
    },
    settle: (settlement: Settlement) =>
      new Promise((resolve, reject) => {
        checkSettlement(settlement);
        calls.settle(settlement, resolve, reject);
      }),
    detach: (detachment) =>
      new Promise((resolve, reject) => {
        calls.detach(detachment, resolve, reject);
      }),
    readDetached: () => calls.readDetached(),
    async settleUnheld(settlement) {
      checkSettlement(settlement);
      calls.settleUnheld(settlement);
    },
    append(record) {
      const { cost_nano_usd: cost } = record;
      if (cost === null || cost === '0') return appendRecord(record);
      const problem = `The record of a call that held nothing: found cost_nano_usd ${cost}, expected 0 or null. Hold the call first, and settle it.`;
      return Promise.reject(new ConstraintViolation('invalid', problem));
    },
    abandon: async (call_id) => calls.abandon(call_id),
    topup: (movement, entry) => moveNext('topup', movement, entry),
    correct: (movement, entry) => moveNext('correct', movement, entry),
    readMovement,
    async readBalances(account) {
      // A record that is read before is in these sums. While the journal takes no frames, they are the durable sums.
      await journal.flush().catch(() => undefined);
      return book.read(account);
    },
    writable: () => journal.writable(),
  };
  return {
    ledger,
    recorder: { append: appendRecord, writable: ledger.writable },
    recovered,
    readNow: () => book.read(),
    setAccount: (id, mode) => book.setMode(id, mode),
    appendHolds: () => calls.writeHolds(),
    close: () => calls.close(),
  };
}

/** @throws ConstraintViolation */
function checkDraft({ request_id, at_ms }: CallDraft): void {
  checkText('request_id', request_id);
  checkInteger(request_id, 'at_ms', at_ms);
}

/** @throws ConstraintViolation */
function checkCheckpoint({ call_id, usage, cost }: Checkpoint): void {
  checkUsage(call_id, usage);
  if (cost < 0n || !isInt64(cost)) refuse(`The checkpoint of call ${call_id}: found cost ${cost}, expected 0 or more.`);
}

/** @throws ConstraintViolation */
function checkSettlement({ record, posted, released, writtenOff }: Settlement): void {
  checkNumbers(record);
  const { request_id, cost_nano_usd } = record;
  if (posted < 0n || released < 0n || writtenOff < 0n)
    refuse(
      `The settlement of call ${request_id}: found posted ${posted}, released ${released} and written off ${writtenOff}, expected 0 or more of each.`,
    );
  const cost = posted + writtenOff;
  if (!isInt64(cost)) refuse(`The settlement of call ${request_id}: found the cost ${cost}, expected 64 bits.`);
  if ((cost_nano_usd ?? '0') !== cost.toString())
    refuse(
      `The settlement of call ${request_id}: found posted ${posted} and written off ${writtenOff}, expected the sum ${cost_nano_usd ?? '0'}, which is the record's cost_nano_usd.`,
    );
}

/** Checks the record of a call that never held anything. @throws ConstraintViolation */
function checkUnheld(record: CallRecord): void {
  checkText('request_id', record.request_id);
  checkNumbers(record);
  const { request_id, cost_nano_usd } = record;
  if (cost_nano_usd !== null && cost_nano_usd !== '0' && !isAmount(cost_nano_usd))
    refuse(
      `The record of call ${request_id}: found cost_nano_usd ${cost_nano_usd}, expected an integer within 64 bits.`,
    );
}

/** @throws ConstraintViolation */
function checkMovement(kind: 'topup' | 'correct', { id, account, note, at_ms }: Movement): void {
  checkText(`the ${kind}'s id`, id);
  checkText('account', account);
  checkText('note', note ?? '');
  checkInteger(id, 'at_ms', at_ms);
}

function checkNumbers(record: CallRecord): void {
  const { request_id, at_ms, status, ttfb_ms, duration_ms, usage, attempts } = record;
  checkInteger(request_id, 'at_ms', at_ms);
  checkInteger(request_id, 'status', status);
  if (ttfb_ms !== null && !Number.isFinite(ttfb_ms)) refuse(`${request_id}: found ttfb_ms ${ttfb_ms}.`);
  if (!Number.isFinite(duration_ms)) refuse(`${request_id}: found duration_ms ${duration_ms}, expected a number.`);
  checkUsage(request_id, usage);
  for (let index = 0; index < attempts.length; index++) checkAttempt(request_id, attempts[index] as AttemptRecord);
}

function checkAttempt(call_id: string, { billed, usage, cost_nano_usd: cost = null }: AttemptRecord): void {
  if (billed === undefined) return;
  if (usage !== undefined) checkUsage(call_id, usage);
  if (cost !== null && (!isAmount(cost) || cost.startsWith('-')))
    refuse(`${call_id}: found an attempt of cost_nano_usd ${cost}, expected an integer of 0 or more within 64 bits.`);
}

function checkUsage(call_id: string, usage: Usage): void {
  checkInteger(call_id, 'input', usage.input);
  checkInteger(call_id, 'cache_read', usage.cache_read);
  checkInteger(call_id, 'cache_write_5m', usage.cache_write_5m);
  checkInteger(call_id, 'cache_write_1h', usage.cache_write_1h);
  checkInteger(call_id, 'output', usage.output);
  checkInteger(call_id, 'reasoning', usage.reasoning);
}

function checkInteger(of: string, name: string, value: number): void {
  if (!Number.isSafeInteger(value)) refuse(`${of}: found ${name} ${value}, expected an integer.`);
}

/** Text that identifies something must come back unchanged: the journal replaces unpaired surrogates. */
function checkText(name: string, text: string): void {
  if (!text.isWellFormed())
    refuse(`${name}: found half of a surrogate pair in ${JSON.stringify(text)}, expected well-formed text.`);
}

function isAmount(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && isInt64(BigInt(text));
}

function isInt64(amount: bigint): boolean {
  return BigInt.asIntN(64, amount) === amount;
}

function refuse(problem: string): never {
  throw new ConstraintViolation('invalid', problem);
}
