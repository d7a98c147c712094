/**
 * Defines the ledger: immutable double-entry transfers, with one hold and one settlement per call; and how an account's
 * entries and statements are read. Every implementation passes the suites in `store/contracts/`.
 */
import type { TierWords, Usage } from '../../generation/usage.ts';
import type { ClientProtocolName, UpstreamProtocolName } from '../../protocols/names.ts';
import type { NewAuditEntry } from './audit.ts';
import type { AttemptRecord, CallRecord } from './records.ts';
import type { StoredByCall } from './stored-state.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/** `postpaid`: spend is recorded, no balance is needed. `prepaid`: the balance is enforced. */
export type AccountMode = 'postpaid' | 'prepaid';

/**
 * `topup`: funding → available. `hold` and `extend`: available → held. `post`: held → revenue, and the same entry
 * releases the rest of the hold to available. `void`: held → available. `absorb`: the operator's loss → revenue.
 * `correct`: between revenue and available, in either direction.
 */
export const ENTRY_KINDS = ['topup', 'hold', 'extend', 'post', 'void', 'absorb', 'correct'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The members needed to write the call's record if the process dies before the settlement. */
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
  | 'trace_id'
  | 'protocol'
  | 'model'
  | 'served_model'
  | 'provider'
  | 'stream'
  | 'price_version'
>;

/**
 * What a detached call waits for: work at a provider that goes on without its client, and without this process. Ids and
 * names only, no content. Source: contract, 10.13.
 */
export interface DetachedJob {
  readonly kind: 'response' | 'batch';
  /** The object's id at the provider. */
  readonly id: string;
  /** Where the object is: as in the row of a stored thing. */
  readonly provider: string;
  /** The model's name at the provider; for a batch, of its first line. */
  readonly model: string;
  readonly credential: string;
  /** Unix ms; then the held amount is charged. */
  readonly deadline_ms: number;
  /** The tokens that the held amount was computed for. */
  readonly held_tokens: { readonly input: number; readonly output: number };
  /** The price of what was asked for, with the account's mark-up; null: there is no price. The draft's is that of the first target. */
  readonly price_version: string | null;
  /**
   * The service tier that was asked for, and the prices of those that may answer, with the list price as `default`; absent:
   * none has a price of its own.
   */
  readonly tier?: string;
  readonly tier_prices?: { readonly [tier: string]: string };
  /** As in the record. */
  readonly attempts: readonly AttemptRecord[];
  /** Of a batch only. */
  readonly batch?: BatchTerms;
}

/** What the end of a batch is computed from. */
export interface BatchTerms {
  /** Of its requests and answers. */
  readonly format: ClientProtocolName & UpstreamProtocolName;
  /** The number of its requests. */
  readonly requests: number;
  /** The price of each model in each tier that an answer may state, with the account's mark-up. */
  readonly prices: readonly {
    /** The model's name at the provider. */
    readonly model: string;
    readonly tier: TierWords;
    readonly version: string;
  }[];
  /** The catalogue's name of the provider; null: it has none. */
  readonly vendor: string | null;
}

/** A call whose hold belongs to its account, until its job ends. The members are those of this moment. */
export interface DetachedCall {
  readonly draft: CallDraft;
  /** All that it holds. */
  readonly amount: NanoUsd;
  /** How often its hold was extended. */
  readonly extensions: number;
  readonly job: DetachedJob;
}

/** `stored`: what the call has left at its provider so far; its rows are written in one with the detachment. */
export interface Detachment {
  readonly call_id: string;
  readonly job: DetachedJob;
  readonly stored?: StoredByCall;
}

export interface Hold {
  readonly draft: CallDraft;
  /** At least 0; 0 where the call has no price. */
  readonly amount: NanoUsd;
}

/** The progress of a stream: the amount posted for it if the process dies. */
export interface Checkpoint {
  readonly call_id: string;
  readonly usage: Usage;
  readonly cost: NanoUsd;
  /** The target that answers, where it is another than the hold's draft names. */
  readonly target?: CheckpointTarget;
}

export interface CheckpointTarget {
  readonly provider: string;
  readonly served_model: string;
  /** The price that `cost` was computed at. */
  readonly price_version: string;
}

/**
 * The end of a held call. `posted + released` equals the amount held; `posted + absorbed` equals the cost of the usage.
 */
export interface Settlement {
  readonly record: CallRecord;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly writtenOff: NanoUsd;
  /** What the call left at its provider: its rows are written in one with the end. Absent: nothing. */
  readonly stored?: StoredByCall;
}

/**
 * All integer nano-USD. `charged`: the sum posted by calls. `writtenOff`: the part of their cost written off by the
 * operator. `absorbedAttempts`: the cost of their attempts that did not answer them, which the operator pays too and
 * which is in no call's cost. `available + held + charged` equals top-ups plus corrections.
 */
export interface AccountBalance {
  readonly account: string;
  readonly mode: AccountMode;
  readonly available: NanoUsd;
  readonly held: NanoUsd;
  readonly charged: NanoUsd;
  readonly writtenOff: NanoUsd;
  readonly toppedUp: NanoUsd;
  readonly absorbedAttempts: NanoUsd;
}

/** A top-up or correction by a person. The client generates `id`: repeating one moves the money only once. */
export interface Movement {
  readonly id: string;
  readonly account: string;
  readonly amount: NanoUsd;
  readonly note: string | null;
  readonly at_ms: number;
}

/**
 * Every promise resolves once its effect is durable, or, where a method says so, once it is certain to become so while
 * the process lives. Where it rejects, nothing has changed; with OutcomeUnknown, a restart before the next write may
 * show the change all the same. A repeated id of an open call is a ConstraintViolation `conflict`, an unknown account or
 * a bad value `invalid`. Ids of calls are unique: those of ended calls are not remembered. Money that a call or a
 * movement gives back can be held again once its end is durable.
 */
export interface Ledger {
  /**
   * Rejects with InsufficientFunds where the account is prepaid and has less than the amount available. The hold of a
   * call that does not stream is not waited for. That of a stream is durable a few milliseconds later, or with its end.
   */
  hold(hold: Hold): Promise<void>;
  /** Writes a hold at once that waits for the end of its call: `hold` resolves earlier. */
  writeHold(call_id: string): void;
  /** `nth` counts the extensions of a call from 1. Rejects as `hold` does. */
  extend(call_id: string, nth: number, amount: NanoUsd): Promise<void>;
  /** Is not waited for. */
  checkpoint(checkpoint: Checkpoint): Promise<void>;
  /** Ends the call with its record. Rejects a second settlement of a call; where it rejects, the call stays open. */
  settle(settlement: Settlement): Promise<void>;
  /**
   * Ends a call where it is unknown whether its hold was stored. Posts nothing and writes the cost off. Is not waited
   * for.
   */
  settleUnheld(settlement: Settlement): Promise<void>;
  /** Adds the record of a call that never held anything. */
  append(record: CallRecord): Promise<void>;
  /**
   * Leaves the hold of a call to its account, and resolves with it: from then on neither `abandon` nor a restart ends the
   * call, only `settle` does. Rejects a second detachment of a call, and one while it is being held, as `conflict`; where
   * it rejects, the call is as before.
   */
  detach(detachment: Detachment): Promise<DetachedCall>;
  /** All detached calls that have not ended, also those of earlier processes, by id. */
  readDetached(): readonly DetachedCall[];
  /**
   * Ends a call whose settlement failed or never came, as a restart would: charges its last checkpoint, or nothing
   * without one. Does nothing for a call that holds nothing or is detached. Is not waited for.
   */
  abandon(call_id: string): Promise<void>;
  /**
   * Returns the account's balance afterwards. Writes the audit entry with the movement; a repeated movement adds no
   * second entry.
   */
  topup(movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance>;
  /** As `topup`; a positive amount credits the account. */
  correct(movement: Movement, entry?: NewAuditEntry): Promise<AccountBalance>;
  /** The movement of that kind and id; null: none. */
  readMovement(kind: 'topup' | 'correct', id: string): Promise<Movement | null>;
  /** All balances by account id; with `account`, only that account's, if it exists. */
  readBalances(account?: string): Promise<readonly AccountBalance[]>;
  /** False once writes fail; calls then get 503. */
  writable(): boolean;
}

/**
 * A block of the journal, or an entry from before the journal, and its hash (64 hex digits), which covers everything up
 * to it.
 */
export interface NotedPlace {
  readonly number: number;
  readonly hash: string;
}

export interface LedgerProof {
  /** Transfers of money: of the journal, and from before it. */
  readonly entries: number;
  readonly blocks: number;
  /** Calls that ended. */
  readonly calls: number;
  /** The last block, or the last entry where there is no block; null: the ledger is empty. */
  readonly last: NotedPlace | null;
  /** The first violation found, with the block, or the entry from before the journal, if it is in one; null: none. */
  readonly problem: { readonly entry: number | null; readonly block: number | null; readonly message: string } | null;
}

export interface ShownEntry {
  readonly atMs: number;
  readonly kind: EntryKind;
  readonly ref: string;
  readonly amount: NanoUsd;
  readonly released: NanoUsd;
  readonly note: string | null;
}

interface EntryPage {
  /** By arrival of the call or movement, newest first. The lines of a call stay together. */
  readonly entries: readonly ShownEntry[];
  /** Cursor for the next page (`before`); null: no more entries. A page may be short without being the last. */
  readonly next: string | null;
}

/** Unix ms; `toMs` is exclusive. */
export interface StatementRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Changes to an account's money within a time range. `opening` and `closing`: available plus held. */
export interface Statement {
  readonly opening: NanoUsd;
  readonly closing: NanoUsd;
  readonly movements: readonly ShownEntry[];
  readonly charges: readonly DayCharge[];
}

/** Tokens that are priced apart; `output` includes reasoning. */
export const CHARGED_TOKENS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'] as const;
export type ChargedTokens = Readonly<Record<(typeof CHARGED_TOKENS)[number], number>>;

/** The charges of one key's calls to one model in one workspace on one day. */
export interface DayCharge {
  /** The start of the day; of a statement that is not by days, its start. */
  readonly dayMs: number;
  /** Null: the call has no record. */
  readonly workspace: string | null;
  /** As named by clients; null: they named none. */
  readonly model: string | null;
  /** Null: the call has no record. */
  readonly keyId: string | null;
  /** The key's name at its last call of that day; of several names within the day, the latest. */
  readonly keyName: string | null;
  readonly calls: number;
  readonly tokens: ChargedTokens;
  readonly amount: NanoUsd;
}

export interface StatementReader {
  /**
   * `movements`: top-ups and corrections only. Returns entries before the cursor; null: from the newest. The last call
   * may exceed the limit by its other lines.
   */
  readEntries(account: string, only: 'movements' | 'all', before: string | null, limit: number): Promise<EntryPage>;
  /** `zone`: charges are those of a day in this time zone; null: of the whole range. */
  readStatement(account: string, range: StatementRange, zone: string | null): Promise<Statement>;
}
