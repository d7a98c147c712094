/**
 * Defines the journal: the append-only, hash-chained file that is the authority on money and requests. The tables of
 * the database are a read model of it. Every implementation passes the suite in `store/contracts/journal-contract.ts`.
 */
import type { NewAuditEntry } from './audit.ts';
import type { CallDraft, Checkpoint, Detachment, Movement } from './ledger.ts';
import type { CallRecord } from './records.ts';
import type { StoreHealth } from './store.ts';
import type { StoreError } from './store-errors.ts';
import type { StoredByCall } from './stored-state.ts';

/** Integer nano-USD, within 64 bits. */
type NanoUsd = bigint;

/** Money is set aside for a call. `prepaid`: the account's mode at that moment. */
export interface HoldFrame {
  readonly kind: 'hold';
  readonly draft: CallDraft;
  readonly amount: NanoUsd;
  readonly prepaid: boolean;
}

/** The hold of a running call grows. `nth` counts a call's extensions from 1. `at_ms`: unix ms. */
export interface ExtendFrame {
  readonly kind: 'extend';
  readonly call_id: string;
  readonly nth: number;
  readonly amount: NanoUsd;
  readonly prepaid: boolean;
  readonly at_ms: number;
}

/** The progress of a stream: the amount posted for it if the process dies. */
export interface CheckpointFrame extends Checkpoint {
  readonly kind: 'checkpoint';
}

/**
 * The end of a held call, with its record. `posted + released` equals all that the call held; `posted + writtenOff` the
 * cost of its usage.
 */
export interface EndFrame {
  readonly kind: 'end';
  readonly record: CallRecord;
  /** The call's hold, where no hold frame precedes: one frame then is the whole call. Null: a hold frame precedes. */
  readonly hold: { readonly amount: NanoUsd; readonly prepaid: boolean } | null;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly writtenOff: NanoUsd;
  /** Unix ms of the end. */
  readonly at_ms: number;
  /** What the call left at its provider; absent: nothing. */
  readonly stored?: StoredByCall;
}

/** The record of a call that never held anything. */
export interface RefusedFrame {
  readonly kind: 'refused';
  readonly record: CallRecord;
}

/** A top-up or correction; its entry of the audit trail is written with it. `prepaid`: the account's mode. */
export interface MovementFrame {
  readonly kind: 'movement';
  readonly of: 'topup' | 'correct';
  readonly movement: Movement;
  readonly prepaid: boolean;
  readonly audit: NewAuditEntry | null;
}

/** The hold of a call belongs to its account from now on: only an end frame ends the call. `at_ms`: unix ms. */
export interface DetachFrame extends Detachment {
  readonly kind: 'detach';
  readonly at_ms: number;
}

export type Frame = HoldFrame | ExtendFrame | CheckpointFrame | EndFrame | RefusedFrame | MovementFrame | DetachFrame;

/** Told once what became of its frame. */
export interface FrameWaiter {
  /** The frame is on the disk. */
  onDurable(): void;
  /** The frame is not in the journal; or, with OutcomeUnknown, it may be until the journal writes again. */
  onRefused(failure: StoreError): void;
}

/** A block's place in its stream. `seq` counts blocks from 1, over all epochs; 0: none. */
export interface JournalEnd {
  readonly epoch: number;
  readonly seq: number;
  /** The hash of the last block; before the first one 32 zero bytes, or the last hash of what preceded the journal. */
  readonly head: Uint8Array;
}

/** As `StoreHealth`. */
export type JournalState = Pick<StoreHealth, 'durableLagMs' | 'segments' | 'spareSegments'>;

export interface Journal {
  /** The number of this start; each start takes the next. */
  readonly epoch: number;
  /** The last block that is on the disk. */
  readonly durableSeq: number;
  /**
   * Adds a frame to the block that forms next. Frames keep the order of their calls. With a waiter the block is written
   * as soon as the one before it is on the disk; the waiter is told synchronously if the journal takes no frames. Without
   * a waiter the frame is written within 5 ms, is not waited for, and is never given up while the process lives.
   */
  append(frame: Frame, waiter: FrameWaiter | null): void;
  /** Resolves with the number of the last block once all frames given so far are on the disk. Rejects as Unavailable. */
  flush(): Promise<number>;
  /**
   * Whether a new call may begin: the journal takes frames, the disk keeps up, and there is room for the ends of all
   * running calls and one more.
   */
  writable(): boolean;
  /** Keeps room for the ends of this many running calls. */
  provideFor(runningCalls: number): void;
  /** The blocks up to this one are durable in the database: their space may be used again. */
  release(throughSeq: number): void;
  /** Writes what is left, waits for the disk, and closes. Later frames are refused as `closed`. */
  close(): Promise<void>;
}

/** A journal that reports about itself. */
export interface WatchedJournal extends Journal {
  state(): JournalState;
}
