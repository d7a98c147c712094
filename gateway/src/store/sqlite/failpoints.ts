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
  'take-over-before-commit',
  'take-over-committed',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Called at each failpoint. */
export type ReachFailpoint = (point: Failpoint) => void;

let armed: ReachFailpoint = () => undefined;

/** Called at the failpoints of the request thread. Those of the writer thread are given to `serveWriter`. */
export const reachFailpoint: ReachFailpoint = (point) => armed(point);

/** For tests: what happens at the failpoints of this thread. */
export function armFailpoints(reach: ReachFailpoint): void {
  armed = reach;
}
