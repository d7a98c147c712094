/** Defines how an account's ledger is displayed: its entries, and statements over a time range. */
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
  /** Newest first. */
  readonly entries: readonly ShownEntry[];
  /** Cursor for the next page (`beforeSeq`); null: no more entries. A page may be short without being the last. */
  readonly nextSeq: number | null;
}

/** Changes to an account's money within a time range. `opening` and `closing`: available plus held. */
export interface Statement {
  readonly opening: NanoUsd;
  readonly closing: NanoUsd;
  readonly movements: readonly ShownEntry[];
  readonly charges: readonly DayCharge[];
}

/** The charges of one key's calls to one model on one day. */
export interface DayCharge {
  /** As returned by `dateOf`. */
  readonly date: string;
  /** As named by clients; null: they named none. */
  readonly model: string | null;
  /** Null: the call has no record. */
  readonly keyId: string | null;
  /** The key's name at its last call of that day. */
  readonly keyName: string | null;
  readonly calls: number;
  readonly amount: NanoUsd;
}

export interface StatementReader {
  /** `movements`: top-ups and corrections only. Returns entries before `beforeSeq`; null: from the newest. */
  readEntries(account: string, only: 'movements' | 'all', beforeSeq: number | null, limit: number): Promise<EntryPage>;
  /**
   * Unix ms; `toMs` is exclusive. `dateOf` returns the day of a moment; days must start and end on whole quarter hours.
   */
  readStatement(
    account: string,
    range: { readonly fromMs: number; readonly toMs: number },
    dateOf: (atMs: number) => string,
  ): Promise<Statement>;
}
