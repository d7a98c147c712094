/**
 * Defines what follows each class of failure: where the call may go next, and what the failure says about the target,
 * its origin or its credential. Source: design of routing, section 3.
 */

export type FailureClass =
  /** No byte of the request went out: DNS, connect, TLS. */
  | 'unreached'
  /** A reused connection ended without a byte of the answer; on a fresh one it is `fault`. */
  | 'reset'
  | 'fault'
  | 'overloaded'
  | 'rate'
  | 'timeout'
  | 'quota'
  | 'credential'
  /** The provider does not know the model, the deployment or the address. */
  | 'config'
  /** The refusal names a member that the gateway added or translated. */
  | 'ours'
  | 'overflow'
  | 'policy'
  | 'content'
  /** The answer ended too early after its first content. */
  | 'cut'
  /** The client left, or the gateway itself failed. */
  | 'client';

/** What a failure changes in the states; `none`: it says nothing about the target's health. */
export type Effect = 'origin_fault' | 'target_fault' | 'target_bench' | 'credential_bench' | 'cool_down' | 'none';

export interface FailureRow {
  readonly effect: Effect;
  /**
   * Whether the same target is tried again: `at_once` on a fresh connection, before all others; `in_budget` or
   * `after_delay` only if no other is usable.
   */
  readonly same: 'at_once' | 'in_budget' | 'after_delay' | 'no';
  /** What may be tried next: another target, another credential or target, or nothing. */
  readonly next: 'target' | 'candidate' | 'no';
  /** The entry of `fallback_on` that must be set for a next target; null: always on. */
  readonly onlyWith: 'overflow' | 'policy' | null;
  /** Order among the failures of a call, the lowest is told to the client. The rule of `rate` is in `CallTroubles`. */
  readonly rank: number;
  /** What the provider said: nothing, that it does not process the request (which it does not bill), or neither. */
  readonly answer: 'none' | 'refusal' | 'failure';
}

/** The rank of failures that the caller causes. */
export const CALLER = 0;
const OVERLOADED = 1;
const TIMEOUT = 2;
const FAULT = 3;
const ACCOUNT = 4;
const NOTHING_ANSWERED = 5;

const row = (
  effect: Effect,
  same: FailureRow['same'],
  next: FailureRow['next'],
  rank: number,
  answer: FailureRow['answer'],
  onlyWith: FailureRow['onlyWith'] = null,
): FailureRow => ({ effect, same, next, rank, answer, onlyWith });

export const FAILURES: Readonly<Record<FailureClass, FailureRow>> = {
  unreached: row('origin_fault', 'at_once', 'target', NOTHING_ANSWERED, 'none'),
  reset: row('none', 'at_once', 'target', FAULT, 'none'),
  fault: row('target_fault', 'in_budget', 'target', FAULT, 'failure'),
  overloaded: row('target_fault', 'in_budget', 'target', OVERLOADED, 'refusal'),
  rate: row('cool_down', 'after_delay', 'candidate', ACCOUNT, 'refusal'),
  timeout: row('target_fault', 'no', 'target', TIMEOUT, 'none'),
  quota: row('credential_bench', 'no', 'candidate', ACCOUNT, 'refusal'),
  credential: row('credential_bench', 'no', 'candidate', ACCOUNT, 'refusal'),
  config: row('target_bench', 'no', 'target', ACCOUNT, 'refusal'),
  ours: row('none', 'no', 'target', FAULT, 'refusal'),
  overflow: row('none', 'no', 'target', CALLER, 'refusal', 'overflow'),
  policy: row('none', 'no', 'target', CALLER, 'refusal', 'policy'),
  content: row('none', 'no', 'no', CALLER, 'refusal'),
  cut: row('target_fault', 'no', 'no', FAULT, 'failure'),
  client: row('none', 'no', 'no', CALLER, 'none'),
};

const REFUSALS: ReadonlySet<string> = new Set(
  Object.entries(FAILURES).flatMap(([name, { answer }]) => (answer === 'refusal' ? [name] : [])),
);

/** Whether a provider that fails so tells that it made no output. */
export function isRefusal(failureClass: string): boolean {
  return REFUSALS.has(failureClass);
}
