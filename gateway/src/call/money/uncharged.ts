/**
 * Admits and reports requests that cost nothing and leave no record: token counts and requests about stored objects. They
 * have limits of requests per minute and of concurrency of their own, of the same size as those of calls.
 */
import { type Admission, admitCall } from '../../admission/admission.ts';
import { refusalOf } from '../../admission/limit-messages.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import type { BindingCaps } from '../../store/ports/limits.ts';
import type { Identified } from '../call.ts';
import type { CountRecord } from '../call-observer.ts';
import { buildReason } from '../reason/build-reason.ts';
import { draftRecord } from './settle.ts';

/**
 * Takes the request's share of the limits. `models`: the public names of its model. Throws CallFailure if a limit refuses
 * it; then nothing is taken.
 */
export async function admitUncharged(
  call: Identified,
  endUser: string | null,
  models: readonly string[],
): Promise<Admission> {
  const { principal, deps } = call;
  const { billing } = deps;
  const { keyId, workspaceId, account } = principal;
  const subjects = { keyId, workspaceId, accountId: account.id, endUser, models };
  const binding = billing.rules.bindingCapsOf(subjects, billing.budgetZoneOf, call.atMs).map(capsOfCounts);
  const claim = { callId: call.requestId, subjects, arrivedMs: call.atMs, binding };
  const admitted = await admitCall(
    billing.counting,
    { ...claim, prepaidAccount: null, tokens: 0, amount: 0n },
    steadyNowMs(),
  );
  if (admitted.kind === 'refused') {
    call.rateLimitStatus = admitted.rateLimitStatus;
    throw refusalOf(admitted.refusal);
  }
  call.rateLimitStatus = admitted.admission.rateLimitStatus;
  return admitted.admission;
}

function capsOfCounts({ caps, ...binding }: BindingCaps): BindingCaps {
  return { ...binding, caps: { ...caps, tokensPerMinute: null, budget: null } };
}

/** Tells telemetry of a request that ended; `status` is what the client got. */
export function reportUncharged(call: Identified, protocol: CountRecord['protocol'], status: number): void {
  const { deps, attempted, attempts, route, trace } = call;
  const draft = draftRecord(call, null);
  const record: CountRecord = {
    ...draft,
    served_model: attempted ? draft.served_model : null,
    provider: attempted ? draft.provider : null,
    protocol,
    status,
    error: call.failure?.kind ?? null,
    reason: call.failure === null ? null : buildReason(call, call.failure.kind, false),
    finish_reason: null,
    usage: ZERO_USAGE,
    usage_source: 'void',
    usage_flags: null,
    cost_nano_usd: '0',
    ttfb_ms: null,
    duration_ms: Math.round(performance.now() - call.startMs),
    attempts,
  };
  deps.observer.counted(record, route?.model ?? null, trace);
}
