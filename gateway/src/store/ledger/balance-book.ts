/** Keeps the mode and the balance of every account in memory, exact at each moment. */
import type { AccountBalance, AccountMode } from '../ports/ledger.ts';
import { ConstraintViolation, StoreError } from '../ports/store-errors.ts';
import { type Balance, EMPTY_BALANCE, foldBalance, moveMoney } from './fold-balance.ts';

export interface BookAccount {
  readonly id: string;
  prepaid: boolean;
  balance: Balance;
}

type Taking = 'hold' | 'extend' | 'correct' | 'topup';

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
