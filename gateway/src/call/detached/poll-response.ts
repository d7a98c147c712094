/** Follows a response that a provider makes in the background, and reads its end: usage, price and outcome. */
import { parsePriceVersion, unpricedTools } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import { type Charge, chooseCharge } from '../../billing/who-pays.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Reason } from '../../errors/reason.ts';
import { chargedTier, totalTokens, ZERO_USAGE } from '../../generation/usage.ts';
import { maskKeys } from '../../lib/secret.ts';
import { responsesUpstream } from '../../protocols/responses/upstream/upstream-protocol.ts';
import type { AnswerFacts, AnswerReading } from '../../protocols/upstream-protocol.ts';
import type { DetachedCall, DetachedJob } from '../../store/ports/ledger.ts';
import type { StoredByCall } from '../../store/ports/stored-state.ts';
import { readAnswerBody } from '../attempt/collect-answer.ts';
import { readOwnRefusal } from '../attempt/read-answer.ts';
import { scrubText } from '../attempt/scrub.ts';
import { failureOfErrorWords } from '../attempt/upstream-outcome.ts';
import type { CallDeps } from '../deps.ts';
import { findPlace, type KeptPlace } from '../stored/find-place.ts';
import { requestAbout, requestObject, saysGone } from '../stored/send-object-request.ts';
import { RESPONSES_KEPT_MS, thingsOf } from '../stored/stored-by.ts';
import { type JobEnd, type JobKind, type JobState, LIST_TIER, POLL_MS_MAX } from './job-kinds.ts';

export type ResponseJobDeps = Pick<CallDeps, 'settings' | 'billing'>;

/** `deps`: read at each poll. */
export function createResponseJob(deps: () => ResponseJobDeps): JobKind {
  return { poll: (call, signal) => pollResponse(deps(), call, signal) };
}

async function pollResponse(deps: ResponseJobDeps, call: DetachedCall, signal: AbortSignal): Promise<JobState> {
  const { draft, job } = call;
  const { routes, config } = deps.settings;
  const place = findPlace(routes, job);
  if (place === null) {
    throw new CallFailure('upstream_misconfigured', 'the provider is not configured any more', {
      cause: `no target of the provider has the credential ${job.credential}, which keeps the response`,
    });
  }
  const sender = { requestId: draft.request_id, atMs: draft.at_ms };
  const object = { method: 'GET', path: `/${job.id}`, query: '' } as const;
  const sent = { ...requestAbout(sender, object, {}), endMs: performance.now() + POLL_MS_MAX };
  const answer = await requestObject(place.target, place.credential, sent, config.limits, signal);
  const { head, body } = answer;
  if (saysGone(answer)) return { kind: 'gone' };
  if (head.status !== 200) throw readOwnRefusal(place, answer, responsesUpstream).failure;
  const reading = await readAnswerBody(body, responsesUpstream);
  if (reading.kind !== 'malformed') return { kind: 'ended', end: endOf(deps, call, place, reading) };
  if (reading.isUnfinished === true) return { kind: 'running' };
  throw new CallFailure('upstream_malformed', `the provider sent an invalid response: ${reading.message}`);
}

type EndReading = Exclude<AnswerReading, { readonly kind: 'malformed' }>;

function endOf(deps: ResponseJobDeps, call: DetachedCall, place: KeptPlace, reading: EndReading): JobEnd {
  const { job } = call;
  const facts = reading.facts ?? null;
  const charge = chargeOf(deps, call, place, reading);
  const price_version = charge.source === 'void' ? job.price_version : versionOf(deps, call, facts);
  return {
    ...outcomeOf(place, reading),
    served_model: maskKeys(facts?.model ?? job.model),
    usage: charge.usage,
    usage_source: charge.source,
    usage_flags:
      charge.source !== 'upstream' || facts === null || facts.usageFlags.length === 0 ? null : facts.usageFlags,
    price_version,
    cost: costOf(deps, call, charge, price_version),
    payer: charge.payer,
    stored: storedOf(call, facts, charge),
  };
}

const isCancelled = (reading: EndReading) => reading.kind === 'error' && reading.type === 'cancelled';

/** As for the stream of a call: one that was cancelled is one that its client left. */
function chargeOf(
  { settings, billing }: ResponseJobDeps,
  { job }: DetachedCall,
  place: KeptPlace,
  reading: EndReading,
) {
  const facts = reading.facts ?? null;
  const { upstream } = place.target;
  const ended = {
    endedBy: reading.kind === 'answer' ? 'complete' : isCancelled(reading) ? 'caller_left' : 'failed',
    dispatched: true,
    produced: facts !== null && (facts.outputBytes > 0 || (facts.usageSoFar?.output ?? 0) > 0),
    usage: facts?.usage ?? null,
    usageSoFar: facts?.usageSoFar ?? null,
    brokenAnswers: settings.config.defaults.brokenAnswers,
  } as const;
  return chooseCharge(ended, () => ({
    ...ZERO_USAGE,
    input: job.held_tokens.input,
    output: billing.ratio.tokensIn(upstream, facts?.outputBytes ?? 0),
  }));
}

/** The price of the tier that the answer states, else of the one that was asked for; the list price of an unknown one. */
function versionOf(
  { billing }: ResponseJobDeps,
  { draft, job }: DetachedCall,
  facts: AnswerFacts | null,
): string | null {
  const words = chargedTier({ ...(job.tier !== undefined && { service_tier: job.tier }), ...facts?.tier });
  const tier = words?.service_tier;
  const { price_version, tier_prices: prices = {} } = job;
  if (price_version === null) return null;
  // `price_version` is that of the tier that was asked for.
  const list = prices[LIST_TIER] ?? price_version;
  if (tier === undefined) return list;
  const known = Object.hasOwn(prices, tier) ? prices[tier] : undefined;
  if (known === undefined) billing.warnUnknownTier(draft.model ?? job.model, tier);
  return known ?? list;
}

/** Warns the operator of tools that ran without a known fee. */
function costOf(
  { billing }: ResponseJobDeps,
  { draft, job }: DetachedCall,
  { source, usage }: Charge,
  version: string | null,
): bigint | null {
  if (source === 'void') return 0n;
  if (version === null) return null;
  const price = parsePriceVersion(version);
  const tools = usage.extras === undefined || price.fees === null ? [] : unpricedTools(usage.extras, price.fees);
  if (tools.length > 0) billing.warnUnpriced(draft.model ?? job.model, tools);
  return chargedNanoUsd(usage, price, parsePriceVersion);
}

/** Why it failed, if it did. A cancelled response has ended as its caller asked. */
function outcomeOf({ target }: KeptPlace, reading: EndReading): Pick<JobEnd, 'error' | 'reason' | 'finish_reason'> {
  if (reading.kind === 'answer') return { error: null, reason: null, finish_reason: reading.facts.finish_reason };
  if (isCancelled(reading)) return { error: null, reason: null, finish_reason: 'cancelled' };
  const message = maskKeys(scrubText(reading.message, target.upstream.secrets)).toWellFormed().slice(0, 300);
  const { kind } = failureOfErrorWords(reading.type, reading.status, message);
  const upstream = { status: reading.status, type: reading.type, message: message.toWellFormed() };
  const reason: Reason = { kind: 'cut', upstream, at_step: 'answer' };
  return { error: kind, reason, finish_reason: 'failed' };
}

function storedOf(
  { draft, job }: DetachedCall,
  facts: AnswerFacts | null,
  { usage }: Charge,
): StoredByCall | undefined {
  const things = thingsOf(facts?.stored ?? []);
  if (things.length === 0) return undefined;
  return {
    ...placeOf(job),
    tokens: totalTokens(usage),
    output_tokens: usage.output,
    expires_at_ms: draft.at_ms + RESPONSES_KEPT_MS,
    things,
  };
}

function placeOf({
  provider,
  model,
  credential,
}: DetachedJob): Pick<StoredByCall, 'provider' | 'model' | 'credential'> {
  return { provider, model, credential };
}
