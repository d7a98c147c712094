/** Owns the proof that nothing in the ledger was changed, taken out or put in: numbers, epochs, hashes, seals. */
import type { Database } from 'bun:sqlite';
import { Disproof } from './disproof.ts';
import { hashEntry, type LedgerEntry, NO_HASH, sealEntries, sealEpoch } from './ledger-entry.ts';

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
  /** Takes the next entry, as it stands, with the hash that it claims (64 hex digits). @throws Disproof */
  take(entry: LedgerEntry, hash: string): void;
  /** After the last entry. @throws Disproof */
  finish(): void;
}

/** Reads epochs and seals, and then follows the chain from its beginning. */
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

  /** `entry`: the entry that says that the epoch began; null: no entry does. */
  function enterEpoch(entry: number | null): void {
    epoch += 1;
    const row = epochs[epoch - 1];
    if (row?.id !== epoch) throw new Disproof(entry, `epoch ${epoch} is missing`);
    if (row.seal !== sealEpoch(head, epoch, row.started_at_ms)) {
      throw new Disproof(entry, `the seal of epoch ${epoch} does not follow from what came before it`);
    }
    head = row.seal;
  }

  function passSeal(seal: SealRow): void {
    sealsSeen += 1;
    lastSeal = sealEntries(lastSeal, seal.seq, seal.hash);
    if (seal.hash !== head || seal.seal !== lastSeal) {
      throw new Disproof(seal.seq, `the seal after entry ${seal.seq} does not fit the chain`);
    }
  }

  return {
    take(entry, hash) {
      if (entry.seq !== seq + 1) throw new Disproof(seq + 1, `entry ${seq + 1} is missing; the next is ${entry.seq}`);
      seq = entry.seq;
      if (entry.epoch < epoch || entry.epoch > epochs.length) {
        throw new Disproof(seq, `it is of epoch ${entry.epoch}, in or before ${epoch} of ${epochs.length}`);
      }
      while (epoch < entry.epoch) enterEpoch(seq);
      head = hashEntry(head, entry);
      if (head !== hash) {
        throw new Disproof(seq, 'its hash does not follow from what it says and the hash before it');
      }
      const seal = seals[sealsSeen];
      if (seal?.seq === seq) passSeal(seal);
    },
    finish() {
      while (epoch < epochs.length) enterEpoch(null);
      const left = seals[sealsSeen];
      if (left !== undefined) throw new Disproof(null, `there is a seal after entry ${left.seq}, which is not there`);
    },
  };
}
