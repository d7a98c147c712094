/** Decides which usage counts for an answer, or for an attempt that failed before it, as far as it arrived. */
import { pricedUnits } from '../../billing/unit-prices.ts';
import { type Charge, chooseCharge, type EndedBy } from '../../billing/who-pays.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import {
  type MediaAndToolUsage,
  UNIT_COUNTERS,
  type UnitUsage,
  type Usage,
  ZERO_USAGE,
} from '../../generation/usage.ts';
import { estimateImageTokens } from '../../protocols/images/shared/image-tokens.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { Arrived, Routed } from '../call.ts';
import type { BillingDeps } from './billing-deps.ts';
import { estimateTokens } from './usage-checks.ts';

export interface EndedAnswer {
  /** Null only for a complete answer. */
  readonly failure: FailureKind | null;
  /** The facts that the answer reported, as far as it arrived; null: no answer began. */
  readonly facts: AnswerFacts | null;
}

/** The usage to charge, and the source of its numbers. Runs on every call, so nothing is spread. */
export function decideUsage(call: Arrived, outcome: EndedAnswer): Charge {
  const { facts } = outcome;
  const { billing } = call.deps;
  const { usage, usageSoFar, countedWhenReported } = reportedIn(call, facts);
  const ended = {
    endedBy: endOf(call, outcome),
    dispatched: call.dispatched,
    produced: facts !== null && hasOutput(facts),
    usage,
    usageSoFar,
    countedWhenReported,
    brokenAnswers: call.money?.brokenAnswers ?? 'bill',
  } as const;
  return chooseCharge(ended, () => countUsage(call, facts, billing));
}

/** The bytes of images, and of sound in events, say nothing of tokens, and are not counted as output. */
function hasOutput({ outputBytes, counted }: AnswerFacts): boolean {
  return outputBytes > 0 || (counted?.output ?? 0) > 0 || (counted?.extras?.images ?? 0) > 0;
}

/** The usage of an attempt whose answer the client does not get: as reported, else our estimate of what it cost. */
export function usageOfLost(call: Routed, facts: AnswerFacts | null): Usage {
  const ended = { endedBy: 'lost', dispatched: true, produced: false, brokenAnswers: 'bill' } as const;
  return chooseCharge({ ...ended, ...reportedIn(call, facts) }, () => countUsage(call, facts, call.deps.billing)).usage;
}

function reportedIn(call: Arrived, facts: AnswerFacts | null) {
  const { ratio } = call.deps.billing;
  return {
    usage: withUnits(call, facts),
    usageSoFar: facts?.usageSoFar ?? null,
    countedWhenReported: ratio.tokensIn(call.target?.upstream ?? null, facts?.outputBytesReported ?? 0),
  };
}

function endOf({ undelivered }: Arrived, { failure, facts }: EndedAnswer): EndedBy {
  if (failure === null) return 'complete';
  // The provider answered; the account's own rules keep the answer from the client.
  if (facts !== null && (failure === 'guardrail_blocked' || failure === 'guardrail_unavailable')) return 'complete';
  if (failure === 'client_left' || failure === 'reader_too_slow') return 'caller_left';
  if (facts === null) return 'failed';
  if (undelivered !== null) return 'undelivered';
  if (failure === 'quota_exceeded') return 'extension_refused';
  // The client has part of a stream: the cost is written off only if upstream had finished and the fault is ours.
  const isOurs = failure === 'gateway_fault' || failure === 'upstream_malformed';
  return isOurs && facts.usage !== null && facts.finish_reason !== null ? 'undelivered' : 'failed';
}

/**
 * The characters, seconds and images of a request are known whatever the answer counts, and may have a price. Its searches
 * are the same work as the tokens that some hosts report, so they count only where those have no price.
 */
function withUnits(call: Arrived, facts: AnswerFacts | null): Usage | null {
  const usage = facts?.usage ?? null;
  const units = call.facts?.extras?.units ?? {};
  const isSearch = units.search_units !== undefined && call.money?.price?.input === 0n && isPricedByUnit(call, units);
  const known = units.characters ?? units.seconds ?? units.images;
  if (usage === null || (known === undefined && !isSearch)) return usage;
  return { ...usage, extras: drawnOf({ ...lastingAtLeast(units, facts?.leastSeconds), ...usage.extras }) };
}

/** Without tokens where units are priced: hosts count the same work in one or the other. */
function countUsage(call: Arrived, facts: AnswerFacts | null, { ratio }: BillingDeps): Usage {
  const asked = call.facts?.extras?.units;
  const counted = facts?.counted;
  const known = asked === undefined ? undefined : { ...asked, ...unitsIn(counted?.extras) };
  const units = known === undefined ? undefined : drawnOf(lastingAtLeast(known, facts?.leastSeconds));
  if (units !== undefined && isPricedByUnit(call, units)) return { ...ZERO_USAGE, extras: units };
  // An image that was asked for counts once the answer has it, at least in part.
  const image_output = counted === undefined || units === undefined ? 0 : estimateImageTokens(units);
  const extras = drawnOf({ ...units, ...counted?.extras, ...(image_output > 0 ? { image_output } : {}) });
  const written = () => ratio.tokensIn(call.target?.upstream ?? null, facts?.outputBytes ?? 0);
  return {
    ...ZERO_USAGE,
    input: estimateTokens(call.facts?.inputBytes ?? 0),
    output: image_output > 0 ? image_output : (counted?.output ?? written()),
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
  };
}

/** The seconds of a file are those that its caller's headers claim. */
function lastingAtLeast(units: UnitUsage, seconds = 0): UnitUsage {
  return seconds > (units.seconds ?? 0) ? { ...units, seconds } : units;
}

/** Of an answer without images, which states 0 of them, no images count. */
function drawnOf<Units extends UnitUsage>(units: Units): Omit<Units, 'images' | 'image_kind'> | Units {
  if (units.images !== 0) return units;
  const { images: _, image_kind: __, ...others } = units;
  return others;
}

function isPricedByUnit({ money }: Arrived, units: UnitUsage): boolean {
  const prices = money?.price?.units;
  return prices !== undefined && pricedUnits(units, prices).some(([, , price]) => price !== null);
}

function unitsIn(extras: MediaAndToolUsage | undefined): UnitUsage {
  if (extras === undefined) return {};
  const names = [...UNIT_COUNTERS, 'image_kind'] as const;
  return Object.fromEntries(names.flatMap((name) => (extras[name] === undefined ? [] : [[name, extras[name]]])));
}
