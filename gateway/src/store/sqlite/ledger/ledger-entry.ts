/** Owns what an entry of the ledger says, and the hashes that chain entries, epochs and seals. Reads and writes nothing. */
import type { EntryKind } from '../../ports/ledger.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/** What an entry does to one account's money. */
export interface Transfer {
  readonly kind: EntryKind;
  readonly account: string;
  /** The mode of the account at that time. */
  readonly prepaid: boolean;
  readonly amount: NanoUsd;
  /** Of a post or void: what goes from held back to available. Else 0. */
  readonly released: NanoUsd;
}

/** One immutable entry. No two have the same `ref`, `kind` and `nth`. */
export interface LedgerEntry extends Transfer {
  /** 1, 2, 3 … without a gap, over all epochs. */
  readonly seq: number;
  readonly epoch: number;
  /** The id of the call or of the movement. */
  readonly ref: string;
  /** Counts the extensions of a call from 1; 0 for every other kind. */
  readonly nth: number;
  /** Unix ms. */
  readonly at_ms: number;
  readonly note: string | null;
}

/** 64 hexadecimal digits: where the first epoch's chain hangs. */
export const NO_HASH = '0'.repeat(64);

/** Entries between two seals. */
export const SEAL_ENTRIES = 10_000;

/**
 * The hash of an entry: SHA-256 (64 hex digits) over the hash before it and the entry as a JSON list, amounts as decimal text;
 * and, where the entry ends a call, over the call's record (`recordText`), so that this cannot be changed either.
 */
export function hashEntry(prior: string, entry: LedgerEntry, record: string | null): string {
  return sha256(hashedText(prior, entry, record));
}

/** As `hashEntry`, and writes the hash into the 32 bytes given too: half of the cost of reading them out of the digits again. */
export function hashEntryInto(bytes: Buffer, prior: string, entry: LedgerEntry, record: string | null): string {
  Bun.SHA256.hash(hashedText(prior, entry, record), bytes);
  return bytes.toString('hex');
}

function hashedText(prior: string, entry: LedgerEntry, record: string | null): string {
  return prior + entryText(entry) + (record ?? '');
}

/** What of an entry is hashed. */
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

/** The first link of an epoch's chain. `prior` is the last hash of the epoch before: its last entry's, else its own seal. */
export function sealEpoch(prior: string, epoch: number, startedAtMs: number): string {
  return sha256(prior + JSON.stringify(['epoch', epoch, startedAtMs]));
}

/** A seal over all entries up to `seq`, whose hash is `hash`; `prior` is the seal before it. */
export function sealEntries(prior: string, seq: number, hash: string): string {
  return sha256(prior + JSON.stringify(['seal', seq, hash]));
}

function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'hex');
}
