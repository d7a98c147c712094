/**
 * Applies ledger entries to an account's balance and refuses those that the account does not cover. The ledger, the
 * read model and the proofs share this fold. The ledger keeps its balances in a book.
 */
import type { Frame } from '../ports/journal.ts';
import type { AccountBalance, AccountMode, EntryKind } from '../ports/ledger.ts';
import type { CallRecord } from '../ports/records.ts';
import { ConstraintViolation, InsufficientFunds, StoreError } from '../ports/store-errors.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/** `absorb_attempts`: the operator's loss → the providers of attempts that did not answer their call. */
export type TransferKind = EntryKind | 'absorb_attempts';

/** The effect of a hold, an end or a movement on one account's money. */
export interface Transfer {
  readonly kind: TransferKind;
  readonly account: string;
  /** Whether the account was prepaid at that time. */
  readonly prepaid: boolean;
  readonly amount: NanoUsd;
  /** For a post or void: the amount returned from held to available. Else 0. */
  readonly released: NanoUsd;
}

/** The transfers that a frame makes, in their order. `accountOf`: of a call that holds money. */
export function transfersOf(frame: Frame, accountOf: (call_id: string) => string): readonly Transfer[] {
  switch (frame.kind) {
    case 'hold': {
      const { draft, amount, prepaid } = frame;
      return [{ kind: 'hold', account: draft.account, prepaid, amount, released: 0n }];
    }
    case 'extend': {
      const { call_id, amount, prepaid } = frame;
      return [{ kind: 'extend', account: accountOf(call_id), prepaid, amount, released: 0n }];
    }
    case 'end': {
      const { record, hold, posted, released, writtenOff } = frame;
      const common = { account: record.account, prepaid: false, released: 0n };
      const end: Transfer = { ...common, kind: posted > 0n ? 'post' : 'void', amount: posted, released };
      const absorbed: Transfer[] = writtenOff === 0n ? [] : [{ ...common, kind: 'absorb', amount: writtenOff }];
      const held: Transfer[] = hold === null ? [] : [{ ...common, kind: 'hold', ...hold }];
      return [...held, ...absorbed, end, ...absorbOf(record)];
    }
    case 'movement': {
      const { of, movement, prepaid } = frame;
      return [{ kind: of, account: movement.account, prepaid, amount: movement.amount, released: 0n }];
    }
    case 'refused':
      return absorbOf(frame.record);
    case 'checkpoint':
    case 'detach':
      return [];
  }
}

function absorbOf(record: CallRecord): readonly Transfer[] {
  const amount = sumAttempts(record);
  if (amount === 0n) return [];
  return [{ kind: 'absorb_attempts', account: record.account, prepaid: false, amount, released: 0n }];
}

/** The cost of the attempts that did not answer the call, which the operator pays. */
export function sumAttempts({ attempts }: Pick<CallRecord, 'attempts'>): NanoUsd {
  let sum = 0n;
  for (let index = 0; index < attempts.length; index++) {
    const cost = attempts[index]?.cost_nano_usd;
    if (cost !== undefined && cost !== null) sum += BigInt(cost);
  }
  return sum;
}

/** The amounts of an account. `available + held + charged` equals top-ups plus corrections. */
export type Balance = Omit<AccountBalance, 'account' | 'mode'>;

export const EMPTY_BALANCE: Balance = {
  available: 0n,
  held: 0n,
  charged: 0n,
  writtenOff: 0n,
  toppedUp: 0n,
  absorbedAttempts: 0n,
};

/**
 * Returns the balance after a transfer, or the error with the reason why it is refused: insufficient funds of a prepaid
 * account; else an amount out of range, a post of more than is held, an amount beyond 64 bits.
 */
export function foldBalance(balance: Balance, transfer: Transfer): Balance | InsufficientFunds | ConstraintViolation {
  const { kind, amount, released, prepaid } = transfer;
  if (released < 0n || (released > 0n && kind !== 'post' && kind !== 'void')) {
    return invalid(`it releases ${released}; only a post or a void releases, and no less than 0`);
  }
  const problem = amountProblem(transfer);
  if (problem !== null) return invalid(problem);
  const after = moveMoney(balance, transfer);
  if (after.held < 0n) return invalid(`it takes ${amount + released} from ${balance.held} held`);
  const spends = kind === 'hold' || kind === 'extend' || kind === 'correct';
  if (prepaid && spends && after.available < balance.available && after.available < 0n) {
    const asked = balance.available - after.available;
    return new InsufficientFunds(
      `the account is prepaid and has ${balance.available} nano-USD available, ${asked} were requested`,
    );
  }
  // The transfer's own amounts too: the database silently truncates larger values to their last 64 bits.
  const fit = fits(balance, after) && inRange(amount) && inRange(released);
  return fit ? after : invalid("the account's amounts would leave the range of 64 bits");
}

function invalid(reason: string): ConstraintViolation {
  return new ConstraintViolation('invalid', reason);
}

function amountProblem({ kind, amount }: Transfer): string | null {
  switch (kind) {
    case 'hold':
    case 'extend':
      return amount >= 0n ? null : `a ${kind} of ${amount}, expected 0 or more`;
    case 'topup':
    case 'post':
    case 'absorb':
    case 'absorb_attempts':
      return amount > 0n ? null : `a ${kind} of ${amount}, expected more than 0`;
    case 'void':
      return amount === 0n ? null : `a void of ${amount}, expected 0`;
    case 'correct':
      return amount !== 0n ? null : 'a correction of 0, expected an amount';
    default:
      return `it is of the unknown kind ${JSON.stringify(kind)}`;
  }
}

/** Returns the balance after a transfer that `foldBalance` allowed, or that takes one back. */
export function moveMoney(balance: Balance, { kind, amount, released }: Transfer): Balance {
  const { available, held } = balance;
  switch (kind) {
    case 'topup':
      return { ...balance, available: available + amount, toppedUp: balance.toppedUp + amount };
    case 'hold':
    case 'extend':
      return { ...balance, available: available - amount, held: held + amount };
    case 'post':
    case 'void':
      return {
        ...balance,
        available: available + released,
        held: held - amount - released,
        charged: balance.charged + amount,
      };
    case 'absorb':
      return { ...balance, writtenOff: balance.writtenOff + amount };
    case 'absorb_attempts':
      return { ...balance, absorbedAttempts: balance.absorbedAttempts + amount };
    case 'correct':
      return { ...balance, available: available + amount };
  }
}

const AMOUNTS = ['available', 'held', 'charged', 'writtenOff', 'toppedUp', 'absorbedAttempts'] as const;

/** Whether the amounts that changed are within 64 bits: those before are. */
function fits(before: Balance, after: Balance): boolean {
  for (const name of AMOUNTS) if (after[name] !== before[name] && !inRange(after[name])) return false;
  return true;
}

function inRange(amount: bigint): boolean {
  return BigInt.asIntN(64, amount) === amount;
}

export interface BookAccount {
  readonly id: string;
  prepaid: boolean;
  balance: Balance;
}

type Taking = 'hold' | 'extend' | 'correct' | 'topup';

/** Keeps the mode and the balance of every account in memory, exact at each moment. */
export class BalanceBook {
  readonly #accounts = new Map<string, BookAccount>();

  constructor(balances: readonly AccountBalance[]) {
    for (const { account, mode, ...balance } of balances)
      this.#accounts.set(account, { id: account, prepaid: mode === 'prepaid', balance });
  }

  /** @throws ConstraintViolation `invalid` for an unknown account. */
  find(id: string): BookAccount {
    const found = this.#accounts.get(id);
    if (found === undefined) throw new ConstraintViolation('invalid', `There is no account ${JSON.stringify(id)}.`);
    return found;
  }

  /** Adds a new account, or changes the mode of a known one from now on. */
  setMode(id: string, mode: AccountMode): void {
    const prepaid = mode === 'prepaid';
    const known = this.#accounts.get(id);
    if (known === undefined) this.#accounts.set(id, { id, prepaid, balance: EMPTY_BALANCE });
    else known.prepaid = prepaid;
  }

  /** All balances by account id, or that of one account. */
  read(account?: string): readonly AccountBalance[] {
    const found = account === undefined ? [...this.#accounts.values()] : [this.#accounts.get(account)];
    return found
      .filter((each) => each !== undefined)
      .map(({ id, prepaid, balance }) => ({ account: id, mode: modeOf(prepaid), ...balance }))
      .sort((one, other) => (one.account < other.account ? -1 : 1));
  }
}

function modeOf(prepaid: boolean): AccountMode {
  return prepaid ? 'prepaid' : 'postpaid';
}

/** Returns the balance after the transfer, or the error with the reason why it is refused. Changes nothing. */
export function foldInto({ id, prepaid, balance }: BookAccount, kind: Taking, amount: bigint): Balance | StoreError {
  return foldBalance(balance, { kind, account: id, prepaid, amount, released: 0n });
}

/** Applies the transfer, or returns the error with the reason why it is refused. */
export function take(account: BookAccount, kind: Taking, amount: bigint): StoreError | null {
  const folded = foldInto(account, kind, amount);
  if (folded instanceof StoreError) return folded;
  account.balance = folded;
  return null;
}

/** Ends a hold of `posted + released`. With `posted` 0 it also takes back a hold that was not kept. */
export function endHold(account: BookAccount, posted: bigint, released: bigint): void {
  const { id, prepaid } = account;
  const kind = posted > 0n ? 'post' : 'void';
  account.balance = moveMoney(account.balance, { kind, account: id, prepaid, amount: posted, released });
}

/** Adds a cost that the operator pays; 0 adds nothing. */
export function absorb(account: BookAccount, kind: 'absorb' | 'absorb_attempts', amount: bigint): void {
  if (amount === 0n) return;
  const { id, prepaid, balance } = account;
  account.balance = moveMoney(balance, { kind, account: id, prepaid, amount, released: 0n });
}
