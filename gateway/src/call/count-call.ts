/**
 * Admits and answers token counts. Counts have their own requests-per-minute and concurrency limits, of the same size
 * as those of calls; budgets, balances and token limits do not apply, because a count costs nothing.
 */
import { admitCall } from '../admission/admission.ts';
import { refusalOf } from '../admission/limit-messages.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { steadyNowMs } from '../lib/steady-clock.ts';
import { startTranslationNotes } from '../protocols/request/translation-notes.ts';
import type { BindingCaps } from '../store/ports/limits.ts';
import { estimatePromptTokens } from '../tokens/estimate-tokens.ts';
import { familyOf } from '../tokens/token-families.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import { masked } from './money/settle.ts';
import { estimateTokens } from './money/token-ratio.ts';
import { type RoutedCall, scanDeeper } from './plan/plan-call.ts';

/**
 * Takes the count's share of the limits until the call is released. Throws CallFailure if a limit refuses it; then
 * nothing is taken.
 */
export async function holdCount({ call, deps, route }: RoutedCall): Promise<void> {
  const { principal, facts } = call;
  if (principal === null || facts === null)
    throw new Error('a count holds nothing before its caller is known and it was read');
  const { billing } = deps;
  const { keyId, workspaceId, account } = principal;
  const endUser = masked(facts.endUser);
  const subjects = { keyId, workspaceId, accountId: account.id, endUser, models: route.names };
  const binding = billing.rules.bindingCapsOf(subjects, billing.budgetZoneOf, call.atMs).map(ofCounts);
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
  const { admission } = admitted;
  call.rateLimitStatus = admission.rateLimitStatus;
  call.held.push(() => void admission.releaseUnlessSettled(steadyNowMs()));
}

function ofCounts({ caps, ...binding }: BindingCaps): BindingCaps {
  return { ...binding, caps: { ...caps, tokensPerMinute: null, budget: null } };
}

/**
 * Tokens of the whole prompt; estimated from the byte count where the canonical format cannot represent the request.
 */
export async function countTokens(routed: RoutedCall & { readonly outline: JsonOutline }): Promise<number> {
  const { call, protocol, route } = routed;
  try {
    const request = protocol.parseRequest(await scanDeeper(routed), startTranslationNotes(false));
    return estimatePromptTokens(request, familyOf(route.upstream.model));
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return estimateTokens(call.facts?.inputBytes ?? 0);
  }
}
