/**
 * Names the points in the writer's and the spool's work where tests kill the process. In production they do nothing.
 */

export const FAILPOINTS = [
  'before-begin',
  'after-begin',
  'after-hold-insert',
  'after-extend',
  'after-release',
  'after-post',
  'after-record',
  'after-movement',
  'before-balances',
  'before-commit',
  'after-commit',
  'before-spool-append',
  'after-spool-append',
  'after-spool-drain',
  'recovery-begun',
  'recovery-call-ended',
  'recovery-before-commit',
  'recovery-committed',
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
