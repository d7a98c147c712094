/**
 * Adds entries to the ledger within the writer's transactions: maintains the hash chain, account balances (folded in
 * memory, written once per transaction) and seals. Decides nothing about calls.
 */
import type { Database } from 'bun:sqlite';
import { type Balance, EMPTY_BALANCE, foldBalance, type Transfer } from '../../ledger/fold-balance.ts';
import { ConstraintViolation, StoreError } from '../../ports/store-errors.ts';
import { hashEntryInto, type LedgerEntry, NO_HASH, SEAL_ENTRIES, sealEntries } from './ledger-entry.ts';

/** An entry as given by the caller; the book adds the other members. */
export type NewEntry = Omit<LedgerEntry, 'seq' | 'epoch' | 'prepaid'>;

interface RateLimitStatus {
  readonly prepaid: boolean;
  readonly balance: Balance;
}

/** An entry was refused after its operation had changed other rows: the caller rolls the operation back. */
export class EntryRefused extends ConstraintViolation {
  constructor(reason: string) {
    super('invalid', `The ledger refused a transfer: ${reason}.`);
  }
}

/** The end of the chain. */
interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The state of the book within a transaction. */
interface Page extends ChainEnd {
  readonly standings: ReadonlyMap<string, RateLimitStatus>;
  readonly changed: ReadonlySet<string>;
}

/** Limits the accounts in memory between transactions. */
const STANDINGS_MAX = 10_000;

export interface LedgerBook {
  /** Call at the start of each transaction that adds entries. */
  begin(): void;
  /**
   * Returns the balance after a transfer, or the error with the reason why it is refused. Changes nothing. @throws
   * ConstraintViolation for an unknown account.
   */
  fold(transfer: Omit<Transfer, 'prepaid'>): ReturnType<typeof foldBalance>;
  /**
   * Adds an entry. The caller ensures that a call's hold, extension or end is added only once. `record`: for an end,
   * the call's `recordText`; else null. @throws EntryRefused where the account does not cover it; the database's fault
   * where a movement or an absorb already exists.
   */
  add(entry: NewEntry, record: string | null): void;
  /** Writes balances and seals; call last before the commit. */
  finish(): void;
  /**
   * Call after the commit. Otherwise the next `begin` reads the end of the chain from disk: a commit that failed may
   * have gone through.
   */
  keep(): void;
  /** Call after another write that may have changed an account. */
  forgetAccounts(): void;
  /** Saves the state, to undo part of a transaction together with a savepoint. */
  mark(): Page;
  restore(page: Page): void;
  close(): void;
}

interface StandingRow extends Record<Exclude<keyof Balance, 'toppedUp'> | 'topped_up', string | null> {
  readonly mode: string;
}

const INSERT_ENTRY = `INSERT INTO ledger_entry
  (seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const FIND_STANDING = `SELECT mode, cast(available AS TEXT) AS available, cast(held AS TEXT) AS held,
  cast(charged AS TEXT) AS charged, cast(absorbed AS TEXT) AS writtenOff, cast(topped_up AS TEXT) AS topped_up
  FROM account LEFT JOIN account_balance ON account_balance.account = account.id WHERE id = ?`;
/** The statement enforces the guard too: a prepaid account's shrinking balance never goes below zero. */
const KEEP_BALANCE = `INSERT INTO account_balance (account, available, held, charged, absorbed, topped_up)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (account) DO UPDATE SET available = excluded.available, held = excluded.held,
    charged = excluded.charged, absorbed = excluded.absorbed, topped_up = excluded.topped_up
  WHERE excluded.available >= 0 OR excluded.available >= available
    OR EXISTS (SELECT 1 FROM account WHERE id = excluded.account AND mode = 'postpaid')`;

/** Opens the book of an epoch. `chainStart`: the hash before the epoch's first entry, which is the epoch's own seal. */
export function openLedgerBook(database: Database, epoch: number, chainStart: string): LedgerBook {
  const insertEntry = database.prepare(INSERT_ENTRY);
  const findStanding = database.prepare<StandingRow, [string]>(FIND_STANDING);
  const keepBalance = database.prepare(KEEP_BALANCE);
  let kept = readChainEnd(database, epoch, chainStart);
  let certain = true;
  let { seq, hash } = kept;
  let standings = new Map<string, RateLimitStatus>();
  let changed = new Set<string>();
  /** Reused: binding copies the bytes. */
  const hashBytes = Buffer.alloc(32);

  function standingOf(account: string): RateLimitStatus {
    const known = standings.get(account);
    if (known !== undefined) return known;
    const row = findStanding.get(account);
    if (row === null) throw new ConstraintViolation('invalid', `There is no account ${JSON.stringify(account)}.`);
    const standing = { prepaid: row.mode === 'prepaid', balance: balanceOfRow(row) };
    standings.set(account, standing);
    return standing;
  }

  return {
    begin() {
      if (!certain) kept = readChainEnd(database, epoch, chainStart);
      if (!certain || standings.size > STANDINGS_MAX) standings.clear();
      certain = false;
      ({ seq, hash } = kept);
      changed.clear();
    },
    fold(transfer) {
      const { prepaid, balance } = standingOf(transfer.account);
      return foldBalance(balance, { ...transfer, prepaid });
    },
    add(given, record) {
      const { kind, ref, nth, account, amount, released, at_ms, note } = given;
      const { prepaid, balance } = standingOf(account);
      const entry = { seq: seq + 1, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note };
      const folded = foldBalance(balance, entry);
      if (folded instanceof StoreError) throw new EntryRefused(folded.message);
      const linked = hashEntryInto(hashBytes, hash, entry, record);
      insertEntry.run(
        entry.seq,
        epoch,
        kind,
        ref,
        nth,
        account,
        prepaid ? 1 : 0,
        amount,
        released,
        at_ms,
        note,
        hashBytes,
      );
      seq = entry.seq;
      hash = linked;
      standings.set(account, { prepaid, balance: folded });
      changed.add(account);
    },
    finish() {
      for (const account of changed) {
        const { available, held, charged, writtenOff, toppedUp } = standingOf(account).balance;
        if (keepBalance.run(account, available, held, charged, writtenOff, toppedUp).changes !== 1) {
          throw new Error(`the balance of the prepaid account ${account} would go below zero`);
        }
      }
      if (Math.floor(seq / SEAL_ENTRIES) > Math.floor(kept.seq / SEAL_ENTRIES)) insertSeal(database, seq, hash);
    },
    keep() {
      certain = true;
      kept = { seq, hash };
    },
    forgetAccounts: () => standings.clear(),
    mark: () => ({ seq, hash, standings: new Map(standings), changed: new Set(changed) }),
    restore(page) {
      ({ seq, hash } = page);
      standings = new Map(page.standings);
      changed = new Set(page.changed);
    },
    close() {
      for (const statement of [insertEntry, findStanding, keepBalance]) statement.finalize();
    },
  };
}

function readChainEnd(database: Database, epoch: number, chainStart: string): ChainEnd {
  const last = database
    .query<{ seq: number; epoch: number; hash: string }, []>(
      'SELECT seq, epoch, lower(hex(hash)) AS hash FROM ledger_entry ORDER BY seq DESC LIMIT 1',
    )
    .get();
  const hash = last?.epoch === epoch ? last.hash : chainStart;
  return { seq: last?.seq ?? 0, hash };
}

function balanceOfRow(row: StandingRow): Balance {
  if (row.available === null) return EMPTY_BALANCE;
  return {
    available: BigInt(row.available),
    held: BigInt(row.held ?? 0),
    charged: BigInt(row.charged ?? 0),
    writtenOff: BigInt(row.writtenOff ?? 0),
    toppedUp: BigInt(row.topped_up ?? 0),
  };
}

function insertSeal(database: Database, seq: number, hash: string): void {
  const prior = database
    .query<{ seal: string }, []>('SELECT lower(hex(seal)) AS seal FROM ledger_seal ORDER BY seq DESC LIMIT 1')
    .get();
  database.run('INSERT INTO ledger_seal (seq, hash, seal) VALUES (?, ?, ?)', [
    seq,
    Buffer.from(hash, 'hex'),
    Buffer.from(sealEntries(prior?.seal ?? NO_HASH, seq, hash), 'hex'),
  ]);
}
