/** Owns a call's admission to its limits: one decision over every cap that binds it, one hold. Contract, 5 and 8. */
import { type Admitted, admitCall } from '../admission/admission.ts';
import { refusalOf } from '../admission/refusal-words.ts';
import type { Price } from '../billing/price.ts';
import { priceAt } from '../billing/price-book.ts';
import { chooseHold, type HoldSlice, type HoldWish, roomToMeter } from '../billing/reserve.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { steadyNowMs } from '../lib/steady-clock.ts';
import type { BindingCaps, LimitClaim, LimitRefusal } from '../store/limits-port.ts';
import type { HoldMode } from '../store/ports.ts';
import { CallMoney } from './call-money.ts';
import { draftRecord, masked } from './draft-record.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { mayHideReasoning } from './hidden-reasoning.ts';
import type { RoutedCall } from './plan-call.ts';

/** An image, a sound or a page in tokens, for the hold alone. */
const MEDIA_TOKENS = 1_600;
/** More answers at once are no upstream's to give (wire reference A.2). */
const ANSWERS_MAX = 128;
const NOTHING: HoldSlice = { amount: 0n, outputTokens: 0, extendAtTokens: null };

/**
 * Takes what the call needs of its limits and its money; `call.money` is set then. Throws CallFailure where it may not have
 * it; then nothing is taken. Answers without a turn of the event loop where the limits do.
 */
export function holdCall(routed: RoutedCall): void | Promise<void> {
  const { call, gate, route } = routed;
  const { principal, facts } = call;
  if (principal === null || facts === null)
    throw new Error('a call holds nothing before its caller is known and it was read');
  const { desk } = gate;
  const { account, keyId, workspaceId } = principal;
  const subjects = { keyId, workspaceId, accountId: account.id, endUser: masked(facts.endUser), models: route.names };
  const binding = desk.rules.bindingCapsOf(subjects, desk.timeZoneOf, call.atMs);
  const price = priceOf(routed, binding, account);
  const of = { subjects, arrivedMs: call.atMs, binding };
  const mode = principal.holds ?? gate.settings.config.defaults.holds;
  const asked = askFor(routed, of, price, { mode, stream: facts.stream });
  const admitted = admitCall(desk.limits, asked.claim, steadyNowMs());
  const take = (outcome: Admitted): void | Promise<void> => {
    const other = outcome.kind === 'admitted' || !isShortOfMoney(outcome.refusal) ? null : askOtherwise(asked);
    if (other === null) return takeHold(routed, outcome, asked);
    const again = askFor(routed, of, price, other);
    // A strict hold of a plain call is its worst case, streamed or not: that is refused already.
    if (!asked.form.stream && again.slice.amount >= asked.slice.amount) return takeHold(routed, outcome, asked);
    const last = admitCall(desk.limits, again.claim, steadyNowMs());
    return last instanceof Promise ? last.then((late) => takeHold(routed, late, again)) : takeHold(routed, last, again);
  };
  return admitted instanceof Promise ? admitted.then(take) : take(admitted);
}

/** How a call is held: `stream` says whether upstream streams it, so that it can be metered. */
interface HoldForm {
  readonly mode: HoldMode;
  readonly stream: boolean;
}

/**
 * Where money does not cover what was asked for. A stream of which too little is left to meter what does not show: its worst
 * case. A plain call: the slice of a stream that is folded. Else nothing.
 */
function askOtherwise({ form, claim }: Asked): HoldForm | null {
  if (form.stream) return claim.room === undefined ? null : { mode: 'strict', stream: true };
  return { mode: form.mode, stream: true };
}

/** What a call asks of its limits, and what it holds where it gets it. */
interface Asked {
  readonly form: HoldForm;
  readonly price: Price | null;
  readonly wish: HoldWish | null;
  readonly slice: HoldSlice;
  readonly claim: LimitClaim;
}

function askFor(
  routed: RoutedCall,
  of: Pick<LimitClaim, 'subjects' | 'arrivedMs' | 'binding'>,
  price: Price | null,
  form: HoldForm,
): Asked {
  const { requestId: callId, principal } = routed.call;
  const wish = price === null ? null : wishOf(routed, price, form);
  const slice = wish === null ? NOTHING : chooseHold(wish);
  const claim = {
    callId,
    ...of,
    prepaidAccount: principal?.account.mode === 'prepaid' ? principal.account.id : null,
    tokens: wish?.inputTokens ?? inputTokensOf(routed),
    amount: slice.amount,
  };
  const room = wish === null || !mayHideReasoning(routed) ? null : roomToMeter(wish, slice);
  return { form, price, wish, slice, claim: room === null ? claim : { ...claim, room } };
}

function isShortOfMoney({ kind }: LimitRefusal): boolean {
  return kind === 'budget' || kind === 'balance';
}

function takeHold({ call, gate }: RoutedCall, admitted: Admitted, { form, price, wish, slice }: Asked): void {
  if (admitted.kind === 'refused') {
    call.standing = admitted.standing;
    throw refusalOf(admitted.refusal);
  }
  const { admission } = admitted;
  call.folded = form.stream && call.facts?.stream === false;
  call.standing = admission.standing;
  const { ledger, limits } = gate.desk;
  const draft = draftRecord(call, price?.version ?? null);
  const durable = ledger.hold({ draft, amount: slice.amount }).catch((cause: unknown) => {
    if (!isRefused(cause)) throw cause;
    // The ledger knows of calls that the limits do not: those that ran on while the account became prepaid.
    limits.store.forgetBalance(draft.account);
    throw new CallFailure(
      'quota_exceeded',
      'insufficient quota: the credit balance of the account of this API key does not cover this call; top it up and call again',
      { cause },
    );
  });
  const { brokenAnswers } = gate.settings.config.defaults;
  call.money = new CallMoney({ price, wish, slice, admission, ledger, draft, durable, brokenAnswers });
}

/** The ledger's word for a hold that a prepaid account does not cover. */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && 'kind' in cause && cause.kind === 'refused';
}

/** With the account's mark-up; null: none is known, and nothing that binds needs one or the operator lets it pass. */
function priceOf(
  { call, gate, route }: RoutedCall,
  binding: readonly BindingCaps[],
  { mode, markUpPpm }: { readonly mode: string; readonly markUpPpm: number },
): Price | null {
  const listed = priceAt(route.prices, call.atMs);
  if (listed !== null) return gate.desk.priced(listed, markUpPpm);
  const isBound = mode === 'prepaid' || binding.some(({ caps }) => caps.budget !== null);
  if (isBound && gate.settings.config.defaults.unpriced === 'refuse') {
    throw new CallFailure(
      'unpriced',
      `the model ${JSON.stringify(route.model)} has no price, and this call is paid from a balance or a budget; the operator must give it one`,
    );
  }
  gate.log.unpriced(call.requestId, route.model);
  return null;
}

function wishOf(routed: RoutedCall, price: Price, { mode, stream }: HoldForm): HoldWish {
  return {
    mode,
    stream,
    inputTokens: inputTokensOf(routed),
    outputTokensMax: outputTokensMax(routed),
    price,
    apart: routed.call.facts?.apart,
  };
}

function inputTokensOf({ call }: RoutedCall): number {
  return estimateTokens(call.facts?.inputBytes ?? 0) + (call.facts?.mediaParts ?? 0) * MEDIA_TOKENS;
}

/** All answers together; null: nobody bounds them. */
function outputTokensMax({ call, route }: RoutedCall): number | null {
  const one = call.facts?.outputTokensMax ?? route.traits.outputTokensMax;
  const answers = Math.min(ANSWERS_MAX, Math.max(1, Math.floor(call.facts?.answers ?? 1)));
  return one === null ? null : Math.min(Number.MAX_SAFE_INTEGER, one * answers);
}
