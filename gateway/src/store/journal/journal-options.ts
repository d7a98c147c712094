/** Defines what the journal is opened with, and the points in its work where tests kill the process. */
import type { JournalEnd } from '../ports/journal.ts';
import type { OnCommit } from '../ports/store.ts';
import type { StoreError } from '../ports/store-errors.ts';
import type { FilePort } from './file-port.ts';

/** Points in the journal's work where tests kill the process. */
export const JOURNAL_FAILPOINTS = [
  'journal-before-block',
  'journal-after-block',
  'journal-after-sync',
  'journal-before-segment',
  'journal-after-segment',
] as const;
export type JournalFailpoint = (typeof JOURNAL_FAILPOINTS)[number];

export interface JournalOptions {
  /** A folder of its own. */
  readonly folder: string;
  /** The stream, the last block and the next epoch, as `recoverJournal` found them. */
  readonly stream: Uint8Array;
  readonly end: JournalEnd;
  readonly epoch: number;
  readonly file?: FilePort;
  /** Told when new calls must wait, and null when they may begin again. */
  onChange(failure: StoreError | null): void;
  /** Told a sentence for the operator. */
  onProblem(problem: string): void;
  readonly onCommit?: OnCommit;
  readonly reach?: (point: JournalFailpoint) => void;
  readonly segmentBytes?: number;
}
