/**
 * Owns the interface of the ledger and the shapes it keeps: immutable double-entry transfers, one hold and one settlement
 * per call. Knows no database; every implementation is run through `store/contracts/ledger-contract.ts`.
 */
import type { Usage } from '../../generation/usage.ts';
import type { NewAuditEntry } from './audit.ts';
import type { CallRecord } from './records.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/** `postpaid`: spend is recorded, no balance is needed. `prepaid`: the balance is enforced. */
export type AccountMode = 'postpaid' | 'prepaid';

/**
 * `topup` funding → available; `hold` and `extend` available → held; `post` held → revenue, with the rest of the hold going
 * back to available in the same entry; `void` held → available; `absorb` the operator's loss → revenue; `correct` between
 * revenue and available, either way.
 */
export const ENTRY_KINDS = ['topup', 'hold', 'extend', 'post', 'void', 'absorb', 'correct'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** What a record needs if the process dies before its call is settled. */
export type CallDraft = Pick<
  CallRecord,
  | 'request_id'
  | 'at_ms'
  | 'account'
  | 'workspace'
  | 'key_id'
  | 'key_name'
  | 'end_user'
  | 'session'
  | 'protocol'
  | 'model'
  | 'served_model'
  | 'provider'
  | 'stream'
  | 'price_version'
>;

export interface Hold {
  readonly draft: CallDraft;
  /** ≥ 0; 0 where the call has no price. */
  readonly amount: NanoUsd;
}

/** How far a stream had come; what is posted for it if the process dies. */
export interface Checkpoint {
  readonly call_id: string;
  readonly usage: Usage;
  readonly cost: NanoUsd;
}

/** The end of a call that was held. `posted + released` is all that was held; `posted + absorbed` is what the usage costs. */
export interface Settlement {
  readonly record: CallRecord;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly absorbed: NanoUsd;
}

/**
 * All integer nano-USD. `charged` is what calls posted, `absorbed` what the operator bore of their cost;
 * `available + held + charged` is what was topped up and corrected.
 */
export interface AccountBalance {
  readonly account: string;
  readonly mode: AccountMode;
  readonly available: NanoUsd;
  readonly held: NanoUsd;
  readonly charged: NanoUsd;
  readonly absorbed: NanoUsd;
  readonly toppedUp: NanoUsd;
}

/** A movement that a person makes. `id` is made by whoever asks: the same one twice moves once. */
export interface Movement {
  readonly id: string;
  readonly account: string;
  readonly amount: NanoUsd;
  readonly note: string | null;
  readonly at_ms: number;
}

/**
 * Every promise resolves once what it names is durable, and rejects where it was not kept; nothing has changed then. While
 * the store takes no writes, what calls that are held extend and settle is kept beside it, and comes into it later.
 */
export interface Ledger {
  /** Rejects as `refused` where the account is prepaid and has less than the amount. */
  hold(hold: Hold): Promise<void>;
  /** `nth` counts the extensions of a call from 1. As `hold`. */
  extend(call_id: string, nth: number, amount: NanoUsd): Promise<void>;
  checkpoint(checkpoint: Checkpoint): Promise<void>;
  /** The record and its post (or void, where nothing is posted) in one transaction. A second settlement of a call is refused. */
  settle(settlement: Settlement): Promise<void>;
  /**
   * The end of a call of which it is not known whether its hold was kept. Nothing is posted, what it cost is absorbed; its
   * record may come a little later than this resolves.
   */
  settleUnheld(settlement: Settlement): Promise<void>;
  /** The record of a call that never held anything. */
  append(record: CallRecord): Promise<void>;
  /**
   * Ends a call whose settlement was not kept or never came, as a restart would: by its last checkpoint, else for nothing.
   * Of a call that holds nothing it does nothing. Where it rejects it is done later, once the store takes writes again.
   */
  abandon(call_id: string): Promise<void>;
  /** Answers the account as it is then. The entry is kept with the movement, and with one that moved before not again. */
  topup(movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance>;
  /** As `topup`; a positive amount goes back to the account. */
  correct(movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance>;
  /** The movement of that kind and id as it was made; null: none was. */
  readMovement(kind: 'topup' | 'correct', id: string): Promise<Movement | null>;
  /** Of every account, by id; or of the one, where there is one of that id. */
  readBalances(account?: string): Promise<readonly AccountBalance[]>;
  /** False once writes fail: calls are then answered 503. */
  writable(): boolean;
}

/** An entry and its hash (64 hex digits), which stands for all entries up to it. */
export interface NotedEntry {
  readonly entry: number;
  readonly hash: string;
}

export interface LedgerProof {
  readonly entries: number;
  readonly calls: number;
  /** The last entry that was read; null: there is none. */
  readonly last: NotedEntry | null;
  /** The first thing that does not hold; null: all of it does. */
  readonly problem: { readonly entry: number | null; readonly message: string } | null;
}
