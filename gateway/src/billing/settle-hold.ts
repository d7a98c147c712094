/**
 * Owns how a hold is split when its call ends: what is posted, given back, borne by the operator. Pure arithmetic; whether
 * caps allow an extension is asked before. Source: money design, "A post never exceeds its hold".
 */
import type { NanoUsd } from './money.ts';

export interface EndedHold {
  /** All that is held, extensions included. ≥ 0. */
  readonly held: NanoUsd;
  /** What the usage costs. ≥ 0. */
  readonly cost: NanoUsd;
  /** The most by which the caps of the call allow the hold to grow; null: nothing caps it. */
  readonly extensible: NanoUsd | null;
}

/** `posted + absorbed` is the cost, `posted + released` is the hold with its last extension; none is below 0. */
export interface HoldSplit {
  /** By how much the hold must grow before `posted` can be posted. */
  readonly extension: NanoUsd;
  readonly posted: NanoUsd;
  readonly released: NanoUsd;
  readonly absorbed: NanoUsd;
}

/** The split where the operator bears the whole cost: nothing of the hold is posted. Amounts ≥ 0. */
export function bearCost(held: NanoUsd, cost: NanoUsd): HoldSplit {
  return { extension: 0n, posted: 0n, released: held, absorbed: cost };
}

/** By how much the cost exceeds the hold: what to ask the caps for. */
export function missingFromHold(held: NanoUsd, cost: NanoUsd): NanoUsd {
  return cost > held ? cost - held : 0n;
}

/**
 * The split of a hold at the end of its call.
 * @throws RangeError where an amount is below 0.
 */
export function settleHold({ held, cost, extensible }: EndedHold): HoldSplit {
  if (held < 0n || cost < 0n || (extensible ?? 0n) < 0n) {
    throw new RangeError(`hold ${held}, cost ${cost}, extensible ${extensible}: expected amounts of 0 or more`);
  }
  const missing = missingFromHold(held, cost);
  const extension = extensible === null || extensible > missing ? missing : extensible;
  const posted = cost - missing + extension;
  return { extension, posted, released: held + extension - posted, absorbed: missing - extension };
}
