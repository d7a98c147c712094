/** Owns the interface through which an account's ledger is shown: its entries, and what moved its money in a time. Knows no database. */
import type { EntryKind } from './ledger.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

export interface ShownEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: EntryKind;
  readonly ref: string;
  readonly amount: NanoUsd;
  readonly released: NanoUsd;
  readonly note: string | null;
}

export interface EntryPage {
  /** The newest first. */
  readonly entries: readonly ShownEntry[];
  /** Ask on with entries before this one; null: there are no more. A page may be short and still not be the last. */
  readonly nextSeq: number | null;
}

/** What moved the money of an account between two moments. `opening` and `closing`: what it has, held or not. */
export interface Statement {
  readonly opening: NanoUsd;
  readonly closing: NanoUsd;
  readonly movements: readonly ShownEntry[];
  readonly charges: readonly DayCharge[];
}

/** What the calls of a key to a model were charged on a day. */
export interface DayCharge {
  /** As `dateOf` named it. */
  readonly date: string;
  /** As callers named it; null: they named none. */
  readonly model: string | null;
  /** Null: the call has no record. */
  readonly keyId: string | null;
  /** The key's name at its last call of the day. */
  readonly keyName: string | null;
  readonly calls: number;
  readonly amount: NanoUsd;
}

export interface StatementReader {
  /** `movements`: top-ups and corrections only. Entries before `beforeSeq`; null: from the newest on. */
  readEntries(account: string, only: 'movements' | 'all', beforeSeq: number | null, limit: number): Promise<EntryPage>;
  /** Unix ms; the end is no longer part of it. `dateOf` names the day of a moment: every day is made of whole quarters of an hour. */
  readStatement(
    account: string,
    range: { readonly fromMs: number; readonly toMs: number },
    dateOf: (atMs: number) => string,
  ): Promise<Statement>;
}
