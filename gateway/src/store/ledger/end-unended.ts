/** Builds the end of a call that never ended itself: its process died, or its settlement could not be stored. */
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { CallDraft, Checkpoint, DetachedJob, Settlement } from '../ports/ledger.ts';

/** A call that holds money. */
export interface UnendedCall {
  readonly draft: CallDraft;
  /** All that it holds. */
  readonly amount: bigint;
  readonly extensions: number;
  /** The last one; null: none. */
  readonly checkpoint: Pick<Checkpoint, 'usage' | 'cost' | 'target'> | null;
  /** Null: the call ends with its process. */
  readonly job: DetachedJob | null;
}

/** Number of calls left by the previous process that were charged by their last checkpoint (`posted`) or not at all. */
export interface Recovered {
  readonly posted: number;
  readonly voided: number;
}

/**
 * The call's usage is its last checkpoint, at the target that was answering then, or zero without one. Checkpoints are
 * made while output is sent, so a streaming client had received status 200 by then. The duration is unknown, so
 * `duration_ms` is 0.
 */
export function endUnended(
  { draft: begun, amount, checkpoint }: Pick<UnendedCall, 'draft' | 'amount' | 'checkpoint'>,
  error: string,
): Settlement {
  const draft = checkpoint?.target === undefined ? begun : { ...begun, ...checkpoint.target };
  const { provider, served_model: model } = draft;
  const unpriced = checkpoint !== null && draft.price_version === null;
  const cost = checkpoint === null || unpriced ? 0n : checkpoint.cost;
  const posted = cost < amount ? cost : amount;
  const answered = checkpoint !== null && provider !== null && model !== null;
  return {
    record: {
      ...draft,
      status: checkpoint !== null && draft.stream ? 200 : 500,
      error,
      reason: { kind: 'ours', at_step: checkpoint === null ? 'provider' : 'answer' },
      finish_reason: null,
      usage: checkpoint?.usage ?? ZERO_USAGE,
      usage_source: checkpoint === null ? 'void' : 'checkpoint',
      usage_flags: null,
      cost_nano_usd: unpriced ? null : cost.toString(),
      ttfb_ms: null,
      duration_ms: 0,
      attempts: answered ? [{ provider, model, status: 200, error, duration_ms: 0 }] : [],
    },
    posted,
    released: amount - posted,
    writtenOff: cost - posted,
  };
}
