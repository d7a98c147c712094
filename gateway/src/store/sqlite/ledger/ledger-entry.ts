/** Defines ledger entries, and the hashes that chain entries, epochs and seals. No I/O. */
import type { Transfer } from '../../ledger/fold-balance.ts';

/** One immutable entry. No two have the same `ref`, `kind` and `nth`. */
export interface LedgerEntry extends Transfer {
  /** 1, 2, 3 … without gaps, across all epochs. */
  readonly seq: number;
  readonly epoch: number;
  /** The id of the call or movement. */
  readonly ref: string;
  /** Counts the extensions of a call from 1; 0 for every other kind. */
  readonly nth: number;
  /** Unix ms. */
  readonly at_ms: number;
  readonly note: string | null;
}

/** 64 hexadecimal digits: the hash before the first epoch. */
export const NO_HASH = '0'.repeat(64);

/** Entries between two seals. */
export const SEAL_ENTRIES = 10_000;

/**
 * Returns the hash of an entry: SHA-256 (64 hex digits) over the previous hash and the entry as a JSON list with
 * amounts as decimal text. For an entry that ends a call it also covers the call's record (`recordText`), so that the
 * record cannot be changed either.
 */
export function hashEntry(prior: string, entry: LedgerEntry, record: string | null): string {
  return sha256(prior + entryText(entry) + (record ?? ''));
}

/** The hashed text of an entry. */
function entryText(entry: LedgerEntry): string {
  const { seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note } = entry;
  return JSON.stringify([
    seq,
    epoch,
    kind,
    ref,
    nth,
    account,
    prepaid ? 1 : 0,
    amount.toString(),
    released.toString(),
    at_ms,
    note,
  ]);
}

/**
 * Returns the first hash of an epoch's chain. `prior` is the last hash of the previous epoch: that of its last entry,
 * else its own seal.
 */
export function sealEpoch(prior: string, epoch: number, startedAtMs: number): string {
  return sha256(prior + JSON.stringify(['epoch', epoch, startedAtMs]));
}

/** Returns a seal over all entries up to `seq`, whose hash is `hash`; `prior` is the previous seal. */
export function sealEntries(prior: string, seq: number, hash: string): string {
  return sha256(prior + JSON.stringify(['seal', seq, hash]));
}

function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'hex');
}
