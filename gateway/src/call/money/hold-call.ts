/** Admits a call to its limits: one decision over every cap that applies, one hold. Contract, 5 and 8. */
import { type Admitted, admitCall } from '../../admission/admission.ts';
import { refusalOf } from '../../admission/limit-messages.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { steadyNowMs } from '../../lib/steady-clock.ts';
import { estimateTokens } from '../attempt/estimate-tokens.ts';
import { limitNotEnforceable } from '../deliver/limit-not-enforceable.ts';
import { mostOutputTokens } from '../plan/output-maximum.ts';
import type { RoutedCall } from '../plan/plan-call.ts';
import { sentLimit } from '../plan/sent-limit.ts';
import { CallMoney } from './call-money.ts';
import { mayHideReasoning, type PreparedClaim, prepareClaim, prepareOtherwise } from './hold-request.ts';
import { draftRecord, masked } from './settle.ts';

/** Tokens of one image, sound or page; used only for the hold. */
const MEDIA_TOKENS = 1_600;

/**
 * Takes the call's share of its limits and money and sets `call.money`. Throws CallFailure if a limit refuses; then
 * nothing is taken. Synchronous if the limits answer synchronously.
 */
export function holdCall(routed: RoutedCall): void | Promise<void> {
  const { call, deps, route } = routed;
  const { principal, facts } = call;
  if (principal === null || facts === null)
    throw new Error('a call holds nothing before its caller is known and it was read');
  const { billing } = deps;
  const asked = prepareClaim(
    deps,
    {
      callId: call.requestId,
      principal,
      route,
      endUser: masked(facts.endUser),
      atMs: call.atMs,
      stream: facts.stream,
      inputTokens: estimateTokens(facts.inputBytes) + facts.mediaParts * MEDIA_TOKENS,
      outputTokensMax: mostOutputTokens(facts, route),
      extras: facts.extras,
      priced: call.priced,
      hidesReasoning: mayHideReasoning(routed),
      limit: sentLimit(facts, routed.protocol.name, route),
    },
    () => deps.log.unpriced(call.requestId, route.model),
  );
  const admitted = admitCall(billing.limits, asked.claim, steadyNowMs());
  const take = (outcome: Admitted): void | Promise<void> => {
    const again = outcome.kind === 'admitted' ? null : prepareOtherwise(asked, outcome.refusal);
    if (again === null) return takeHold(routed, outcome, asked);
    const last = admitCall(billing.limits, again.claim, steadyNowMs());
    return last instanceof Promise ? last.then((late) => takeHold(routed, late, again)) : takeHold(routed, last, again);
  };
  return admitted instanceof Promise ? admitted.then(take) : take(admitted);
}

function takeHold(
  { call, deps }: RoutedCall,
  admitted: Admitted,
  { basis, form, price, holdRequest, slice }: PreparedClaim,
): void {
  if (admitted.kind === 'refused') {
    call.rateLimitStatus = admitted.rateLimitStatus;
    const { refusal } = admitted;
    const isMoney = refusal.kind === 'budget' || refusal.kind === 'balance';
    throw isMoney && basis.trust === 'nothing' ? limitNotEnforceable() : refusalOf(refusal);
  }
  const { admission } = admitted;
  call.folded = form.stream && call.facts?.stream === false;
  call.rateLimitStatus = admission.rateLimitStatus;
  const { ledger, limits } = deps.billing;
  const draft = draftRecord(call, price?.version ?? null);
  const durable = ledger.hold({ draft, amount: slice.amount }).catch((cause: unknown) => {
    if (!isRefused(cause)) throw cause;
    // The ledger knows of calls that the limits do not: those that were running when the account became prepaid.
    limits.store.forgetBalance(draft.account);
    throw new CallFailure(
      'quota_exceeded',
      'insufficient quota: the credit balance of the account of this API key does not cover this call; top it up and call again',
      {
        cause,
        reason: {
          kind: 'balance_empty',
          subject: { type: 'account', id: draft.account },
          rule: { id: `account:${draft.account}`, cap: 'balance' },
          needed: slice.amount.toString(),
        },
      },
    );
  });
  const { brokenAnswers } = deps.settings.config.defaults;
  call.money = new CallMoney({ price, holdRequest, slice, admission, ledger, draft, durable, brokenAnswers });
}

/** Whether the ledger rejected the hold because the prepaid balance does not cover it. */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && 'kind' in cause && cause.kind === 'refused';
}
