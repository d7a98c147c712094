/** Describes an attempt that did not become an answer: its class, what it may cost, and what the client hears of it. */
import type { AttemptFailure as FailedAttempt } from '../../routing/planned-call.ts';
import type { Target } from '../../routing/route.ts';
import type { AttemptRow, Held } from '../call.ts';
import { type LostCost, priceLostAttempt, wasRefused } from '../money/lost-attempt.ts';
import { attemptMessage } from '../reason/build-reason.ts';
import type { NotAnswered } from './read-answer.ts';
import { AttemptFailure, classOf } from './upstream-outcome.ts';

export interface LostRequest extends FailedAttempt {
  readonly lost: NotAnswered;
  readonly target: Target;
  /** For its row, once another attempt follows: the settlement prices the last. Null: it cost nothing. */
  readonly cost: LostCost | null;
}

/**
 * Completes the row of an attempt at the call's present target. `isCut`: upstream had sent content, so that nothing is
 * tried again.
 */
export function loseRequest(call: Held, row: AttemptRow, lost: NotAnswered, isCut: boolean): LostRequest {
  const { failure, facts } = lost;
  const found = classOf(failure);
  const failureClass = isCut && found !== 'client' ? 'cut' : found;
  row.note(null, failure.kind);
  if (found !== 'client') row.lose(failure.kind, failureClass, attemptMessage(call, failure));
  if (failure.details.cause !== undefined) {
    call.deps.log.upstream(call.requestId, call.target.upstream.provider, String(failure.details.cause));
  }
  const refused = wasRefused({ class: failureClass, status: row.status });
  const cost = found === 'client' ? null : costOf(call, row, refused, facts);
  const pauseMs = failure instanceof AttemptFailure ? failure.pauseMs : null;
  return { class: failureClass, pauseMs, atRisk: atRiskOf(cost), lost, target: call.target, cost };
}

/** What the provider may bill of an attempt that has not answered yet, in nano-USD; null: nothing. */
export function riskOfWaiting(call: Held, row: AttemptRow): bigint | null {
  return atRiskOf(costOf(call, row, false, null));
}

/** Completes the row of an attempt that another one of the call has beaten; the provider may bill it. */
export function noteBeaten(call: Held, row: AttemptRow, facts: NotAnswered['facts']): void {
  row.note(null, null);
  row.lose(null, 'beaten');
  row.price(costOf(call, row, false, facts));
}

function costOf(call: Held, row: AttemptRow, refused: boolean, facts: NotAnswered['facts']) {
  const dispatched = (row.marks?.sentAtMs ?? 0) > 0;
  return priceLostAttempt(call, { dispatched, refused, facts });
}

function atRiskOf(cost: LostCost | null): bigint | null {
  return cost === null ? null : BigInt(cost.cost_nano_usd ?? 0);
}
