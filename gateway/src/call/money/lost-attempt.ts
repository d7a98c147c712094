/**
 * Prices the attempts of a call that did not answer it: what the provider billed, or may have billed, is the operator's
 * cost. Source: routing design, section 6.
 */
import { chargedNanoUsd, priceAt } from '../../billing/price-book.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import { isRefusal } from '../../routing/health/failure-table.ts';
import type { AttemptCost, AttemptRecord, Billed } from '../../store/ports/records.ts';
import type { Routed } from '../call.ts';
import { priceAnswer } from './answer-prices.ts';
import { usageOfLost } from './decide-usage.ts';

/** An attempt at the call's present target. */
export interface LostAttempt {
  /** Bytes of the request were sent. */
  readonly dispatched: boolean;
  /** The provider refused the request before it made any output, and does not bill it. */
  readonly refused: boolean;
  /** What its answer reported; null: no answer began. */
  readonly facts: AnswerFacts | null;
}

/** The cost of an attempt that may have been billed. */
export type LostCost = AttemptCost & Required<Pick<AttemptCost, 'billed' | 'usage' | 'cost_nano_usd'>>;

/**
 * The cost of an attempt that another one follows, for its row: at the target's price without the account's mark-up.
 * Null: the provider bills nothing. The last attempt of a call is priced by its settlement.
 */
export function priceLostAttempt(call: Routed, lost: LostAttempt): LostCost | null {
  const billed = billedBy(lost);
  if (billed === null) return null;
  const { target, atMs } = call;
  const usage = usageOfLost(call, lost.facts);
  const list = priceAt(target.prices, atMs);
  if (list === null) return { billed, usage, cost_nano_usd: null };
  const priced = priceAnswer(call, list, usage, lost.facts, { priced: (price) => price });
  const cost = chargedNanoUsd(priced.usage, priced.price, priced.priceOf);
  return { billed, usage: priced.usage, price_version: priced.price.version, cost_nano_usd: cost.toString() };
}

function billedBy({ dispatched, refused, facts }: LostAttempt): Billed | null {
  if (facts !== null && facts.usage !== null) return 'yes';
  return dispatched && !refused ? 'maybe' : null;
}

/** Completes the row of the last attempt of a call that ends without output, unless its cost is known. */
export function noteLastAttempt(call: Routed, facts: AnswerFacts | null): void {
  const row = call.attempts.at(-1);
  if (row === undefined || row.billed !== undefined) return;
  const dispatched = typeof row.connect_ms === 'number';
  const cost = priceLostAttempt(call, { dispatched, refused: wasRefused(row), facts });
  if (cost !== null) Object.assign(row, cost);
}

/**
 * Whether the provider refused the request, which it does not bill: by the class of the failure, or by a status that says
 * that it did not process the request.
 */
export function wasRefused({ class: failureClass, status }: Pick<AttemptRecord, 'class' | 'status'>): boolean {
  if (failureClass !== undefined && isRefusal(failureClass)) return true;
  return status !== null && ((status >= 400 && status < 500) || status === 503 || status === 529);
}
