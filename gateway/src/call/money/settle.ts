/**
 * Settles a call: decides its usage, source and payer, computes its cost and writes one record. Exactly once per call.
 */

import type { NanoUsd } from '../../billing/money.ts';
import { type Price, unpricedTools } from '../../billing/price.ts';
import { chargedNanoUsd, costNanoUsd } from '../../billing/price-book.ts';
import { unpricedUnits } from '../../billing/unit-prices.ts';
import type { Charge } from '../../billing/who-pays.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import { tierText, totalTokens, type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import { maskKeys } from '../../lib/secret.ts';
import type { CallDraft } from '../../store/ports/ledger.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { type Identified, isRouted, type Routed } from '../call.ts';
import { withAgentStatus } from '../deliver/agent-stops.ts';
import { buildReason } from '../reason/build-reason.ts';
import { keepResponse, storedBy, storedHere } from '../stored/stored-by.ts';
import { type PricedUsage, priceAnswer } from './answer-prices.ts';
import { decideUsage, type EndedAnswer } from './decide-usage.ts';
import { sentLimit } from './limit-proofs.ts';
import { noteLastAttempt } from './lost-attempt.ts';
import { checkUsage, shownTokens } from './usage-checks.ts';

/** How a call ended. `status` is what the client got. */
export interface Outcome extends EndedAnswer {
  readonly status: number;
}

/** The answer's fields in a record. */
export type ReportedAnswer = Pick<CallRecord, 'served_model' | 'provider' | 'error' | 'finish_reason'>;

/**
 * Writes the call's record and ends its hold. Resolves once both are durable; `call.charged` is then the cost to the
 * account. `replayed`: the answer's fields from the first call's record, for a replayed answer. Rejects a second
 * settlement of a call.
 */
export function settle(call: Identified, outcome: Outcome, replayed: ReportedAnswer | null = null): Promise<void> {
  try {
    const { ended } = call;
    if (ended === null || outcome.failure !== null || !isRouted(call)) return settleOnce(call, outcome, replayed);
    return keepResponse(call, ended).then(() => settleOnce(call, outcome, replayed));
  } catch (fault) {
    return Promise.reject(fault);
  }
}

function settleOnce(call: Identified, outcome: Outcome, replayed: ReportedAnswer | null): Promise<void> {
  if (call.settled) throw new Error(`call ${call.requestId} is settled already`);
  call.settled = true;
  const { money, deps } = call;
  if (isRouted(call)) noteTarget(call, outcome);
  const decided = decideUsage(call, outcome);
  const { source, payer } = decided;
  if (decided.ending === 'failed_without_output' && isRouted(call)) noteLastAttempt(call, outcome.facts);
  const requested = money?.price ?? null;
  const priced =
    requested !== null && source !== 'void' && isRouted(call) && mayCostOtherwise(call, decided.usage)
      ? priceAnswer(call, requested, decided.usage, outcome.facts, deps.billing)
      : null;
  const charge = priced === null ? decided : { ...decided, usage: priced.usage };
  const { usage } = charge;
  const price = priced?.price ?? requested;
  const flags = source === 'upstream' && isRouted(call) ? noteAnomalies(call, outcome) : null;
  const cost =
    source === 'void'
      ? 0n
      : price === null
        ? null
        : priced === null
          ? costNanoUsd(usage, price)
          : chargedNanoUsd(usage, price, priced.priceOf);
  if (isRouted(call)) warnUnpriced(call, usage, price, priced);
  const record = buildRecord(call, outcome, { charge, cost, flags, replayed, price_version: price?.version });
  call.charged = payer === 'operator' ? 0n : cost;
  if (money === null || !money.isRefused) {
    call.content?.ended(record.status, record.error);
    deps.observer.ended(record, call.route?.model ?? null, payer, call.trace);
  }
  if (money === null) return deps.recorder.append(record);
  if (isRouted(call)) {
    learnRatio(call, outcome);
    learnLength(call, outcome);
  }
  const tokens = totalTokens(usage);
  const stored = isRouted(call)
    ? (storedBy(call, outcome.facts, tokens, usage.output) ?? storedHere(call, tokens, usage.output))
    : undefined;
  return money.settle(cost, tokens, record, payer, stored);
}

/**
 * Whether an answer with this usage may cost anything other than its usage at the price of the requested model.
 */
function mayCostOtherwise({ priced, target }: Routed, { extras }: Usage): boolean {
  if (priced !== null || target.upstream.answersAsOther === true) return true;
  return extras !== undefined && (extras.tier !== undefined || extras.parts !== undefined);
}

/** Flags implausible upstream usage and warns the operator; null: nothing to flag. The usage is charged unchanged. */
function noteAnomalies(call: Routed, { facts }: Outcome): CallRecord['usage_flags'] {
  if (facts === null) return null;
  const { requestId, target, deps } = call;
  const flags = checkUsage(call, facts, deps.billing.ratio);
  if (flags.length === 0) return null;
  const { provider, model } = target.upstream;
  deps.billing.usageAnomalies.note({ provider, model, flags, requestId }, Date.now());
  return flags;
}

/** Our own count of a text may be off by this factor. */
const COUNT_MARGIN = 1.25;

/** Reports to the proofs what an answer shows about its target, whether or not it was complete. */
function noteLimit(call: Routed, { failure, facts }: Outcome): void {
  const { target, protocol, facts: request } = call;
  if (facts === null || request.outputTokensMax === null) return;
  const { limitProofs, ratio } = call.deps.billing;
  const { upstream } = target;
  const { outputTokensMax: tokens, answers } = request;
  // Runs of other kinds (a compaction, an advisor) have their own limits but are part of the sum.
  if (facts.finish_reason === 'compaction' || facts.usageSoFar?.extras?.parts !== undefined) return;
  const reported = facts.usage?.output ?? null;
  const isCut = protocol.cutReason !== null && facts.finish_reason === protocol.cutReason;
  const endedByLimit = failure === null && reported !== null && isCut;
  const counted = reported ?? Math.floor(ratio.tokensIn(upstream, facts.outputBytes) / COUNT_MARGIN);
  const output = Math.max(counted, facts.usageSoFar?.output ?? 0);
  if (!endedByLimit && output <= tokens * answers) return;
  const limit = sentLimit(request, protocol.name, target);
  if (limit === null) return;
  limitProofs.note({ upstream, limit, answers, output, endedByLimit, requestId: call.requestId }, Date.now());
}

/** Notes what the outcome shows of the target: its limits, and the retry token that it issued. */
function noteTarget(call: Routed, outcome: Outcome): void {
  const { principal, target, deps } = call;
  const { provider } = target.upstream;
  noteLimit(call, outcome);
  const token = outcome.facts?.retryToken;
  if (token === undefined) return;
  deps.billing.retryTokens.note(token, { workspace: principal.workspaceId, provider }, Date.now());
}

/** Warns the operator of a tier, of tools that ran upstream, or of units, without a known price. */
function warnUnpriced({ route, deps }: Routed, usage: Usage, price: Price | null, priced: PricedUsage | null): void {
  const { billing } = deps;
  if (priced?.unknownTier !== undefined) billing.warnUnknownTier(route.model, tierText(priced.unknownTier));
  const { extras } = usage;
  if (extras === undefined || price === null || price.fees === null) return;
  // Hosts count the same work in tokens or in units.
  const units = totalTokens(usage) > 0 ? [] : unpricedUnits(extras, price.units);
  const kinds = [...unpricedTools(extras, price.fees), ...units];
  if (kinds.length > 0) billing.warnUnpriced(route.model, kinds);
}

/**
 * A call whose hold the ledger refused is recorded like any refused call and costs nothing. `record`: as it would be if
 * the hold were kept.
 */
export function recordUnpaid(call: Routed, failure: CallFailure, record: CallRecord): Promise<void> {
  const { deps, protocol } = call;
  const status = protocol.statusOf(withAgentStatus(call, failure));
  call.content?.ended(status, failure.kind);
  call.failure = failure;
  call.reason = buildReason(call, failure.kind, false);
  const refused: CallRecord = {
    ...record,
    status,
    error: failure.kind,
    reason: call.reason,
    usage: ZERO_USAGE,
    usage_source: 'void',
    usage_flags: null,
    cost_nano_usd: '0',
  };
  deps.observer.ended(refused, call.route.model, 'account', call.trace);
  return deps.recorder.append(refused);
}

/** Updates the bytes-per-token ratio from upstream's count of the received text. */
function learnRatio({ target, deps }: Routed, { failure, facts }: Outcome): void {
  if (failure !== null || facts === null || facts.usage === null) return;
  const { outputBytes, reasoningBytes, outputBytesMax, usage } = facts;
  // The text of a non-streamed answer is counted only if its usage looks implausible.
  if (outputBytes === 0 || outputBytes !== outputBytesMax) return;
  const { upstream, hiddenReasoning } = target;
  const { ratio } = deps.billing;
  const tokens = shownTokens(usage);
  // Shown reasoning may be a summary of reasoning that is counted separately, and not all models report the reasoning
  // that a provider hides.
  if (usage.reasoning > 0) ratio.learn(upstream, outputBytes - reasoningBytes, tokens);
  else if (reasoningBytes === 0 || hiddenReasoning === 'never') ratio.learn(upstream, outputBytes, tokens);
}

/** Tells the choice among targets how long the caller's answers are, where there was something to choose. */
function learnLength({ routed, route, principal, deps }: Routed, { failure, facts }: Outcome): void {
  if (routed === null || failure !== null || facts === null || facts.usage === null) return;
  deps.choice.answerLengths.learn(route.model, principal.keyId, facts.usage.output);
}

/** The decisions made at the end of a call. */
interface Ending {
  readonly charge: Charge;
  readonly cost: NanoUsd | null;
  readonly flags: CallRecord['usage_flags'];
  readonly replayed: ReportedAnswer | null;
  readonly price_version: string | undefined;
}

/** Written out member by member for speed: runs on every call. */
function buildRecord(
  call: Identified,
  outcome: Outcome,
  { charge, cost, flags, replayed, price_version }: Ending,
): CallRecord {
  const draft = call.money?.draft ?? draftRecord(call, null);
  const reported = replayed ?? reportAnswer(call, outcome, draft);
  const record: CallRecord = {
    request_id: draft.request_id,
    at_ms: draft.at_ms,
    account: draft.account,
    workspace: draft.workspace,
    key_id: draft.key_id,
    key_name: draft.key_name,
    end_user: draft.end_user,
    session: draft.session,
    trace_id: draft.trace_id,
    protocol: draft.protocol,
    model: draft.model,
    served_model: reported.served_model,
    provider: reported.provider,
    stream: draft.stream,
    status: outcome.status,
    error: reported.error,
    reason: reasonOf(call, outcome, reported.error),
    finish_reason: reported.finish_reason,
    usage: charge.usage,
    usage_source: replayed === null ? charge.source : 'cache',
    usage_flags: flags,
    price_version: price_version ?? draft.price_version,
    cost_nano_usd: cost === null ? null : cost.toString(),
    ttfb_ms: call.firstByteMs === null ? null : Math.round(call.firstByteMs - call.startMs),
    duration_ms: Math.round(performance.now() - call.startMs),
    attempts: call.attempts,
  };
  const masked = call.masked === null || call.masked.size === 0 ? null : Object.fromEntries(call.masked);
  if (call.cachedFrom === null && masked === null) return record;
  return {
    ...record,
    ...(call.cachedFrom !== null && { cached_from: call.cachedFrom }),
    ...(masked !== null && { masked }),
  };
}

/** Also set for a replayed answer whose first call was cut. */
function reasonOf(call: Identified, { status, facts }: Outcome, error: string | null): CallRecord['reason'] {
  if (error === null) return null;
  const hasBegun = status === 200 && (facts !== null || !call.attempted);
  call.reason = buildReason(call, error as FailureKind, hasBegun);
  return call.reason;
}

function reportAnswer({ attempted }: Identified, { failure, facts }: Outcome, draft: CallDraft): ReportedAnswer {
  return {
    served_model: redactKeys(facts?.model ?? (attempted ? draft.served_model : null)),
    provider: attempted ? draft.provider : null,
    error: failure,
    finish_reason: facts?.finish_reason ?? null,
  };
}

export function draftRecord(call: Identified, price_version: string | null): CallDraft {
  const { principal, target, facts } = call;
  return {
    request_id: call.requestId,
    at_ms: call.atMs,
    account: principal.account.id,
    workspace: principal.workspaceId,
    key_id: principal.keyId,
    key_name: principal.keyName,
    end_user: redactKeys(facts?.endUser),
    session: redactKeys(call.session),
    trace_id: call.trace === null ? null : call.trace.traceId,
    protocol: call.protocol.recordedAs ?? call.protocol.name,
    model: redactKeys(facts?.model),
    served_model: redactKeys(target?.upstream.model),
    provider: target?.upstream.provider ?? null,
    stream: facts?.stream ?? false,
    price_version,
  };
}

/** The failure of a call whose record, or hold, could not be kept. */
export function unrecorded(cause: unknown): CallFailure {
  if (cause instanceof CallFailure) return cause;
  return new CallFailure('store_unavailable', 'the call could not be recorded; try again', {
    cause,
    retryAfterSeconds: 1,
  });
}

/** Text from a caller or an upstream, for the record: masks keys that were sent in the wrong place. */
export function redactKeys(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : maskKeys(text);
}
