/** Owns the names of the moments in the writer's and the spool's work at which tests let the process die. In production nothing happens there. */

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
  'fold-gathered',
  'fold-before-commit',
  'fold-committed',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Told each moment as it comes. */
export type Reach = (point: Failpoint) => void;
