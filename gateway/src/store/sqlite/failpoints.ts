/** Names the points in the work of journal, writer and start where tests kill the process. In production they do nothing. */
import { JOURNAL_FAILPOINTS } from '../journal/journal-options.ts';

export const FAILPOINTS = [
  ...JOURNAL_FAILPOINTS,
  'recovery-appended',
  'recovery-ingested',
  'ingest-begun',
  'ingest-applied',
  'ingest-before-commit',
  'ingest-committed',
  'chunk-before-commit',
  'chunk-committed',
  'take-over-before-commit',
  'take-over-committed',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Called at each failpoint. */
export type ReachFailpoint = (point: Failpoint) => void;

/** On the global object: a preloaded file and the bundle of a program have modules of their own. */
const armed = globalThis as { tollgateFailpoint?: ReachFailpoint };

/** What to call at the failpoints of the request thread. Those of the writer thread are given to `serveWriter`. */
export function armedFailpoints(): ReachFailpoint | undefined {
  return armed.tollgateFailpoint;
}

/** For tests, before the store is opened: what happens at the failpoints of this thread. */
export function armFailpoints(reach: ReachFailpoint): void {
  armed.tollgateFailpoint = reach;
}
