/** Proves that no ledger entry was changed, removed or inserted: checks sequence numbers, epochs, hashes and seals. */
import type { Database } from 'bun:sqlite';
import {
  type EntryValues,
  entryOf,
  hashedRecordOf,
  hashOf,
  readLastWithout,
  SELECT_ENTRIES,
} from '../ledger/entry-row.ts';
import { hashEntry, type LedgerEntry, NO_HASH, sealEntries, sealEpoch } from '../ledger/ledger-entry.ts';
import { atEntry, LedgerInvariantError } from './ledger-invariant-error.ts';

interface EpochRow {
  readonly id: number;
  readonly started_at_ms: number;
  readonly seal: string;
}

interface SealRow {
  readonly seq: number;
  readonly hash: string;
  readonly seal: string;
}

export interface ChainProof {
  /**
   * Checks the next stored entry against its stored hash (64 hex digits), with the record covered by that hash. @throws
   * LedgerInvariantError
   */
  take(entry: LedgerEntry, hash: string, record: string | null): void;
  /** Call after the last entry. Returns the end of the chain, 64 hex digits. @throws LedgerInvariantError */
  finish(): string;
}

/** Reads epochs and seals, then follows the chain from its beginning. */
export function proveChain(database: Database): ChainProof {
  const epochs = database
    .query<EpochRow, []>('SELECT id, started_at_ms, lower(hex(seal)) AS seal FROM ledger_epoch ORDER BY id')
    .all();
  const seals = database
    .query<SealRow, []>('SELECT seq, lower(hex(hash)) AS hash, lower(hex(seal)) AS seal FROM ledger_seal ORDER BY seq')
    .all();
  let head = NO_HASH;
  let seq = 0;
  let epoch = 0;
  let lastSeal = NO_HASH;
  let sealsSeen = 0;

  /** `entry`: the first entry of the epoch; null: the epoch has none. */
  function enterEpoch(entry: number | null): void {
    const place = entry === null ? undefined : atEntry(entry);
    epoch += 1;
    const row = epochs[epoch - 1];
    if (row?.id !== epoch) throw new LedgerInvariantError(`epoch ${epoch} is missing`, place);
    if (row.seal !== sealEpoch(head, epoch, row.started_at_ms)) {
      throw new LedgerInvariantError(`the seal of epoch ${epoch} does not follow from the epoch before it`, place);
    }
    head = row.seal;
  }

  function passSeal(seal: SealRow): void {
    sealsSeen += 1;
    lastSeal = sealEntries(lastSeal, seal.seq, seal.hash);
    if (seal.hash !== head || seal.seal !== lastSeal) {
      throw new LedgerInvariantError(`the seal after entry ${seal.seq} does not fit the chain`, atEntry(seal.seq));
    }
  }

  return {
    take(entry, hash, record) {
      if (entry.seq !== seq + 1)
        throw new LedgerInvariantError(`entry ${seq + 1} is missing; the next is ${entry.seq}`, atEntry(seq + 1));
      seq = entry.seq;
      if (entry.epoch < epoch || entry.epoch > epochs.length) {
        throw new LedgerInvariantError(
          `it is of epoch ${entry.epoch}, in or before ${epoch} of ${epochs.length}`,
          atEntry(seq),
        );
      }
      while (epoch < entry.epoch) enterEpoch(seq);
      head = hashEntry(head, entry, record);
      if (head !== hash) {
        const said = record === null ? 'what it says' : "what it says, its call's record";
        throw new LedgerInvariantError(`its hash does not follow from ${said} and the hash before it`, atEntry(seq));
      }
      const seal = seals[sealsSeen];
      if (seal?.seq === seq) passSeal(seal);
    },
    finish() {
      while (epoch < epochs.length) enterEpoch(null);
      const left = seals[sealsSeen];
      if (left === undefined) return head;
      throw new LedgerInvariantError(`there is a seal after entry ${left.seq}, which is not there`);
    },
  };
}

/**
 * Returns the first entry from `firstSeq` to `lastSeq` that is missing or whose hash does not follow from its content
 * and the previous hash; null: all are valid. Trusts the hash of the entry before `firstSeq`, and does not check seals
 * of entries.
 */
export function proveChainBetween(database: Database, firstSeq: number, lastSeq: number): number | null {
  const rows = database
    .query<EntryValues, [number, number]>(`${SELECT_ENTRIES} WHERE seq >= ? AND seq <= ? ORDER BY seq`)
    .values(firstSeq - 1, lastSeq) as unknown as EntryValues[];
  const lastWithout = readLastWithout(database);
  const epochs = database
    .query<EpochRow, []>('SELECT id, started_at_ms, lower(hex(seal)) AS seal FROM ledger_epoch ORDER BY id')
    .all();
  const before = rows[0]?.[0] === firstSeq - 1 ? rows.shift() : undefined;
  let head = before === undefined ? NO_HASH : hashOf(before);
  let epoch = before?.[1] ?? 0;
  let seq = firstSeq;
  for (const values of rows) {
    const entry = entryOf(values);
    if (entry.seq !== seq || entry.epoch < epoch) return seq;
    for (; epoch < entry.epoch; epoch++) {
      const next = epochs[epoch];
      if (next?.id !== epoch + 1 || next.seal !== sealEpoch(head, next.id, next.started_at_ms)) return seq;
      head = next.seal;
    }
    head = hashEntry(head, entry, hashedRecordOf(values, lastWithout));
    if (head !== hashOf(values)) return seq;
    seq += 1;
  }
  return seq > lastSeq ? null : seq;
}
