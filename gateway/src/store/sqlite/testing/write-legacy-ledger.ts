/** Writes a ledger as versions before the journal left it, for tests: entries, epochs, seals, records, balances, holds. */
import type { Database } from 'bun:sqlite';
import { type Balance, EMPTY_BALANCE, foldBalance } from '../../ledger/fold-balance.ts';
import type { CallRecord } from '../../ports/records.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { heldCall, settledCall } from '../../testing/sample-call.ts';
import {
  CALL_RECORD_COLUMNS,
  callRecordValues,
  recordText,
  renderAttempts,
  renderDraft,
} from '../ledger/call-record-row.ts';
import { hashEntry, type LedgerEntry, NO_HASH, SEAL_ENTRIES, sealEntries, sealEpoch } from '../ledger/ledger-entry.ts';

type NewEntry = Pick<LedgerEntry, 'kind' | 'ref' | 'amount'> & Partial<Pick<LedgerEntry, 'nth' | 'released' | 'note'>>;

const ACCOUNT = 'default';

export class LegacyLedger {
  #hash = NO_HASH;
  #seal = NO_HASH;
  #seq = 0;
  #epoch = 0;
  #balance: Balance = EMPTY_BALANCE;

  constructor(private readonly database: Database) {}

  /** The hash of the last entry, or of the epoch before its first; 64 hex digits. */
  get hash(): string {
    return this.#hash;
  }

  beginEpoch(startedAtMs = 1): void {
    this.#epoch += 1;
    this.#hash = sealEpoch(this.#hash, this.#epoch, startedAtMs);
    this.database.run('INSERT INTO ledger_epoch (id, started_at_ms, seal) VALUES (?, ?, ?)', [
      this.#epoch,
      startedAtMs,
      Buffer.from(this.#hash, 'hex'),
    ]);
  }

  /** `record`: of the call that the entry ends. */
  add({ kind, ref, amount, nth = 0, released = 0n, note = null }: NewEntry, record: CallRecord | null = null): void {
    this.#seq += 1;
    const common = { account: ACCOUNT, prepaid: false, amount, released };
    const entry: LedgerEntry = { ...common, seq: this.#seq, epoch: this.#epoch, kind, ref, nth, at_ms: 7, note };
    const text = record === null ? null : recordText(valuesOf(record), renderAttempts(record));
    this.#hash = hashEntry(this.#hash, entry, text);
    if (record !== null) this.addRecord(record);
    this.database.run(
      `INSERT INTO ledger_entry (seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note, hash)
        VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, 7, ?, ?)`,
      [this.#seq, this.#epoch, kind, ref, nth, ACCOUNT, amount, released, note, Buffer.from(this.#hash, 'hex')],
    );
    const folded = foldBalance(this.#balance, entry);
    if (folded instanceof StoreError) throw folded;
    this.#balance = folded;
    if (this.#seq % SEAL_ENTRIES !== 0) return;
    this.#seal = sealEntries(this.#seal, this.#seq, this.#hash);
    this.database.run('INSERT INTO ledger_seal (seq, hash, seal) VALUES (?, ?, ?)', [
      this.#seq,
      Buffer.from(this.#hash, 'hex'),
      Buffer.from(this.#seal, 'hex'),
    ]);
  }

  addRecord(record: CallRecord): void {
    const columns = CALL_RECORD_COLUMNS.join(', ');
    this.database.run(
      `INSERT INTO call_record (${columns}) VALUES (${CALL_RECORD_COLUMNS.map(() => '?').join(', ')})`,
      [...valuesOf(record), renderAttempts(record)],
    );
  }

  /** A call that held `held` and produced `output` tokens. */
  addCall(id: string, held: bigint, output: number, changes: Partial<CallRecord> = {}): void {
    this.add({ kind: 'hold', ref: id, amount: held });
    this.endCall(id, held, output, changes);
  }

  endCall(id: string, held: bigint, output: number, changes: Partial<CallRecord> = {}): void {
    const { record, posted, released, writtenOff } = settledCall(id, { held, output, changes });
    if (writtenOff > 0n) this.add({ kind: 'absorb', ref: id, amount: writtenOff });
    this.add({ kind: posted > 0n ? 'post' : 'void', ref: id, amount: posted, released }, record);
  }

  /** A call that does not end. */
  openCall(id: string, held: bigint): void {
    this.add({ kind: 'hold', ref: id, amount: held });
    this.database.run(
      'INSERT INTO open_hold (call_id, epoch, account, amount, extensions, draft) VALUES (?, ?, ?, ?, 0, ?)',
      [id, this.#epoch, ACCOUNT, held, renderDraft(heldCall(id, held).draft)],
    );
  }

  /** Writes the balance; call last. */
  finish(): void {
    const { available, held, charged, writtenOff, toppedUp } = this.#balance;
    this.database.run(
      `INSERT OR REPLACE INTO account_balance (account, available, held, charged, absorbed, topped_up) VALUES (?, ?, ?, ?, ?, ?)`,
      [ACCOUNT, available, held, charged, writtenOff, toppedUp],
    );
  }
}

/** Unpaired surrogates were replaced before they were hashed. */
function valuesOf(record: CallRecord) {
  return callRecordValues(record).map((value) => (typeof value === 'string' ? value.toWellFormed() : value));
}
