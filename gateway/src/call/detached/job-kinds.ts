/** Defines how the job of a detached call is followed: one implementation for each kind. */
import type { NanoUsd } from '../../billing/money.ts';
import type { Payer } from '../../billing/who-pays.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { ReasonUpstream } from '../../errors/reason.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { DetachedCall, DetachedJob } from '../../store/ports/ledger.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { StoredByCall } from '../../store/ports/stored-state.ts';

/** What ends a detached call: the members of its record that its job decides, and who pays. */
export interface JobEnd
  extends Pick<
    CallRecord,
    'error' | 'reason' | 'finish_reason' | 'served_model' | 'usage' | 'usage_source' | 'usage_flags' | 'price_version'
  > {
  /** Follows from the usage and the price version; null: there is no price. */
  readonly cost: NanoUsd | null;
  readonly payer: Payer;
  /** What the job left at its provider. Absent: nothing more than at its start. */
  readonly stored?: StoredByCall | undefined;
}

export type JobState =
  | { readonly kind: 'running' }
  /** The provider has deleted it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'ended'; readonly end: JobEnd };

/** The name of the list price among the prices of tiers: answers that state it are charged at it. */
export const LIST_TIER = 'default';

/** A provider that does not answer must not keep the jobs of others waiting. */
export const POLL_MS_MAX = 30_000;

export interface JobKind {
  /** Asks the provider once. Rejects with CallFailure where it cannot answer now. */
  poll(call: DetachedCall, signal: AbortSignal): Promise<JobState>;
}

export type JobKinds = { readonly [kind in DetachedJob['kind']]?: JobKind };

/** The end of a job whose usage stays unknown: the held amount is charged, and flagged. */
export function endAtHeldAmount({ amount, job }: DetachedCall, state: 'gone' | 'overdue'): JobEnd {
  const { held_tokens, price_version, model } = job;
  const error: FailureKind = state === 'gone' ? 'upstream_failed' : 'upstream_timeout';
  const message =
    state === 'gone'
      ? 'the provider has deleted it before its usage was known'
      : 'the provider did not end it within 48 hours';
  const upstream: ReasonUpstream = { status: state === 'gone' ? 404 : null, type: null, message };
  return {
    error,
    reason: { kind: 'cut', upstream, at_step: 'answer' },
    finish_reason: null,
    served_model: model,
    usage: { ...ZERO_USAGE, ...held_tokens },
    usage_source: 'counted',
    usage_flags: ['held_amount'],
    price_version,
    cost: price_version === null ? null : amount,
    payer: 'account',
  };
}
