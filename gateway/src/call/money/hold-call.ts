/** Admits a call to its limits: one decision over every cap that applies, one hold. Contract, 5 and 8. */
import { type Admitted, admitCall } from '../../admission/admission.ts';
import { refusalOf } from '../../admission/limit-messages.ts';
import type { NanoUsd } from '../../billing/money.ts';
import type { Price } from '../../billing/price.ts';
import { priceAt } from '../../billing/price-book.ts';
import {
  chooseHold,
  costsOutput,
  type HoldRequest,
  type HoldSlice,
  roomToMeter,
  SLICE_TOKENS,
} from '../../billing/reserve.ts';
import type { Defaults } from '../../config/config.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Principal } from '../../identity/principal.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { BindingCaps, LimitClaim, LimitRefusal } from '../../store/ports/limits.ts';
import type { CallRecord, HoldMode } from '../../store/ports/records.ts';
import { ConstraintViolation, InsufficientFunds } from '../../store/ports/store-errors.ts';
import { member } from '../../wire/json-node.ts';
import type { Routed } from '../call.ts';
import type { PricedRequest } from '../plan/named-models.ts';
import type { BillingDeps } from './billing-deps.ts';
import { CallMoney, type UnsavedHold } from './call-money.ts';
import { chooseDearestHold, chooseHoldPrices, type HoldPrices } from './hold-prices.ts';
import { type LimitTrust, mostOutputTokens, type SentLimit, sentLimit } from './limit-proofs.ts';
import { draftRecord, recordUnpaid, redactKeys } from './settle.ts';
import { estimateInput } from './usage-checks.ts';

/**
 * Takes the call's share of its limits and money, and returns the money. Throws CallFailure if a limit refuses; then
 * nothing is taken. Synchronous if the limits answer synchronously.
 */
export function holdCall(call: Routed): CallMoney | Promise<CallMoney> {
  const { deps, route } = call;
  const claim = prepareClaim(call.settings.config.defaults, deps.billing, describeCall(call));
  if (claim.price === null) deps.log.unpriced(call.requestId, route.model);
  const admitted = admitCall(deps.billing.limits, claim.claim, steadyNowMs());
  return admitted instanceof Promise
    ? admitted.then((late) => takeOrClaimOtherwise(call, late, claim))
    : takeOrClaimOtherwise(call, admitted, claim);
}

/**
 * As `holdCall` for a call that is answered from the cache: it counts as a request, and holds no tokens and no money, so
 * that a spent budget or an empty balance does not refuse it.
 */
export function holdCached(call: Routed): CallMoney | Promise<CallMoney> {
  const { billing } = call.deps;
  const called = describeCall(call);
  const claim = { callId: call.requestId, ...boundBy(billing, called), prepaidAccount: null, tokens: 0, amount: 0n };
  const free = { basis: { trust: 'limit' }, form: { stream: false }, price: null, holdRequest: null } as const;
  const admitted = admitCall(billing.limits, claim, steadyNowMs());
  return admitted instanceof Promise
    ? admitted.then((late) => takeHold(call, late, { ...free, slice: NOTHING }))
    : takeHold(call, admitted, { ...free, slice: NOTHING });
}

/** The call at its present target, as its limits see it. */
export function describeCall(call: Routed): ClaimedCall {
  const { principal, facts, route, target } = call;
  return {
    callId: call.requestId,
    principal,
    route,
    target,
    endUser: redactKeys(facts.endUser),
    atMs: call.atMs,
    stream: facts.stream,
    inputTokens: estimateInput(facts),
    outputTokensMax: mostOutputTokens(facts, target),
    extras: facts.extras,
    priced: call.priced,
    hidesReasoning: mayHideReasoning(call),
    limit: sentLimit(facts, call.protocol.name, target),
    canFold: call.protocol.cutReason !== null && facts.below === undefined && facts.background === undefined,
    goesOn: facts.background === true,
  };
}

/** Tries the alternative claim, if there is one, where the first is refused. */
function takeOrClaimOtherwise(call: Routed, admitted: Admitted, claim: PreparedClaim): CallMoney | Promise<CallMoney> {
  const other = admitted.kind === 'admitted' ? null : prepareOtherwise(claim, admitted.refusal);
  if (other === null) return takeHold(call, admitted, claim);
  const last = admitCall(call.deps.billing.limits, other.claim, steadyNowMs());
  return last instanceof Promise ? last.then((late) => takeHold(call, late, other)) : takeHold(call, last, other);
}

function takeHold(call: Routed, admitted: Admitted, { basis, form, price, holdRequest, slice }: TakenClaim): CallMoney {
  if (admitted.kind === 'refused') {
    call.rateLimitStatus = admitted.rateLimitStatus;
    const { refusal } = admitted;
    const isMoney = refusal.kind === 'budget' || refusal.kind === 'balance';
    throw isMoney && basis.trust === 'nothing' ? limitNotEnforceable() : refusalOf(refusal);
  }
  const { admission } = admitted;
  call.folded = form.stream && !call.facts.stream;
  call.rateLimitStatus = admission.rateLimitStatus;
  const { ledger } = call.deps.billing;
  const draft = draftRecord(call, price?.version ?? null);
  const saved = ledger.hold({ draft, amount: slice.amount });
  const unsaved = new RefusedHold(call, slice.amount);
  const { brokenAnswers } = call.settings.config.defaults;
  return new CallMoney({ price, holdRequest, slice, admission, ledger, draft, saved, unsaved, brokenAnswers });
}

/** The failure of a call whose hold the ledger refuses although the limits admitted it. */
export class RefusedHold implements UnsavedHold {
  readonly #call: Routed;
  readonly #amount: NanoUsd;

  constructor(call: Routed, amount: NanoUsd) {
    this.#call = call;
    this.#amount = amount;
  }

  explain(cause: unknown): unknown {
    const { deps, requestId, principal } = this.#call;
    if (cause instanceof ConstraintViolation) {
      deps.log.fault(requestId, 'the ledger refused the hold', cause);
      return new CallFailure('gateway_fault', 'the gateway failed; this is not your fault', { cause });
    }
    if (!(cause instanceof InsufficientFunds)) return cause;
    const { id } = principal.account;
    // The ledger knows of calls that the limits do not: those that were running when the account became prepaid.
    deps.billing.limits.store.forgetBalance(id);
    return new CallFailure(
      'quota_exceeded',
      'insufficient quota: the credit balance of the account of this API key doesn’t cover this request; top it up and retry',
      {
        cause,
        reason: {
          kind: 'balance_empty',
          subject: { type: 'account', id },
          rule: { id: `account:${id}`, cap: 'balance' },
          needed: this.#amount.toString(),
        },
      },
    );
  }

  record(failure: CallFailure, record: CallRecord): Promise<void> {
    return recordUnpaid(this.#call, failure, record);
  }
}

/** A call as its limits see it. Tokens are whole numbers, times are unix ms. */
interface ClaimedCall extends Pick<HoldRequest, 'inputTokens' | 'outputTokensMax' | 'extras'> {
  readonly callId: string;
  readonly principal: Principal;
  readonly route: Route;
  /** The target to try first, whose price is held. */
  readonly target: Target;
  /** As stored in the record; null: no end user named. */
  readonly endUser: string | null;
  readonly atMs: number;
  readonly stream: boolean;
  /** May cost tokens that are not shown. */
  readonly hidesReasoning: boolean;
  /** The output limit sent upstream; null: only the model limits the output. */
  readonly limit: SentLimit | null;
  /** A plain answer can be made of a stream, which can be metered. */
  readonly canFold: boolean;
  /** It goes on without its client: it cannot be metered. */
  readonly goesOn: boolean;
  readonly priced: PricedRequest | null;
}

/**
 * How a call is held. `stream`: upstream streams the answer, so it can be metered. A non-streaming call that is
 * streamed only because its output limit is not trusted holds its maximum cost, like any non-streaming call: its mode
 * is `strict`, whatever the key says.
 */
interface HoldForm {
  readonly mode: HoldMode;
  readonly stream: boolean;
}

interface Basis {
  readonly called: ClaimedCall;
  readonly bound: Pick<LimitClaim, 'subjects' | 'arrivedMs' | 'binding'>;
  readonly price: Price | null;
  /** Set by the key, its account or the configuration file. */
  readonly mode: HoldMode;
  readonly trust: LimitTrust;
  /** Null: only the requested model can answer, at its price. */
  readonly prices: HoldPrices | null;
}

/** A call's claim on its limits, and what it holds if admitted. */
export interface PreparedClaim {
  readonly basis: Basis;
  readonly form: HoldForm;
  /**
   * With the account's mark-up; null: no price is known, and no limit needs one or the operator allows unpriced calls.
   */
  readonly price: Price | null;
  readonly holdRequest: HoldRequest | null;
  readonly slice: HoldSlice;
  readonly claim: LimitClaim;
}

/** What a hold takes of a claim. */
interface TakenClaim extends Pick<PreparedClaim, 'price' | 'holdRequest' | 'slice'> {
  readonly basis: Pick<Basis, 'trust'>;
  readonly form: Pick<HoldForm, 'stream'>;
}

const NOTHING: HoldSlice = { amount: 0n, outputTokens: 0, extendAtTokens: null };

/** Throws CallFailure `unpriced` if the model has no price and the operator requires one. */
export function prepareClaim(
  defaults: Pick<Defaults, 'unpriced' | 'holds'>,
  billing: BillingDeps,
  called: ClaimedCall,
): PreparedClaim {
  const { principal, route, target, atMs: arrivedMs, stream } = called;
  const { account } = principal;
  const bound = boundBy(billing, called);
  const { binding } = bound;
  const listed = priceAt(target.prices, arrivedMs);
  if (listed === null && defaults.unpriced === 'refuse') refuseUnpriced(called, binding);
  const prices =
    called.priced === null
      ? null
      : chooseHoldPrices({
          route,
          target,
          request: called.priced,
          atMs: arrivedMs,
          isBound: defaults.unpriced === 'refuse' && isMoneyBound(principal, binding),
          priced: (list) => billing.priced(list, account.markUpPpm),
        });
  const price = prices?.requested ?? (listed === null ? null : billing.priced(listed, account.markUpPpm));
  const mode = called.goesOn ? 'strict' : (principal.holds ?? defaults.holds);
  const found = trustIn(called, billing, binding, price);
  const trust = called.goesOn && found !== 'limit' ? 'nothing' : found;
  const basis = {
    called: limitedBy(called, trust),
    bound,
    price,
    prices,
    mode,
    trust,
  };
  const isFolded = !stream && called.canFold && (trust === 'meter' || trust === 'slice');
  return claimFor(basis, isFolded ? { mode: 'strict', stream: true } : { mode, stream });
}

/** The subjects of the call, and the caps that bind it. */
function boundBy(
  billing: BillingDeps,
  { principal, route, priced, endUser, atMs: arrivedMs }: ClaimedCall,
): Basis['bound'] {
  const { account, keyId, workspaceId } = principal;
  const models = priced === null ? route.names : namesOf(route, priced);
  const subjects = { keyId, workspaceId, accountId: account.id, endUser, models };
  return { subjects, arrivedMs, binding: billing.rules.bindingCapsOf(subjects, billing.budgetZoneOf, arrivedMs) };
}

/** Consulted only if money limits the call and output costs something: otherwise nothing can be written off. */
function trustIn(
  { limit, target, principal }: ClaimedCall,
  { limitProofs }: BillingDeps,
  binding: readonly BindingCaps[],
  price: Price | null,
): LimitTrust {
  if (limit === null || price === null || !isMoneyBound(principal, binding) || !costsOutput(price)) return 'limit';
  return limitProofs.trustOf(target.upstream, limit);
}

/** The call with the number of output tokens that it may really produce. */
function limitedBy(called: ClaimedCall, trust: LimitTrust): ClaimedCall {
  const { outputTokensMax, limit } = called;
  if (limit === null || trust === 'limit' || trust === 'meter') return called;
  if (trust === 'nothing') return { ...called, outputTokensMax: limit.mostWithoutIt };
  return { ...called, outputTokensMax: Math.max(outputTokensMax ?? 0, SLICE_TOKENS) };
}

/** Whether a balance or a budget pays. */
export function isMoneyBound({ account }: Principal, binding: readonly BindingCaps[]): boolean {
  return account.mode === 'prepaid' || binding.some(({ caps }) => caps.budget !== null);
}

/** Every public name of all models that may answer: their limits apply to the call too. */
function namesOf(route: Route, { named }: PricedRequest): readonly string[] {
  return [...new Set([...route.names, ...named.flatMap((one) => one.route.names)])];
}

function refuseUnpriced({ principal, route }: ClaimedCall, binding: readonly BindingCaps[]): void {
  if (!isMoneyBound(principal, binding)) return;
  throw new CallFailure(
    'unpriced',
    `the model ${JSON.stringify(route.model)} has no price, and this call is paid from a balance or a budget; the operator must give it one`,
    { reason: { kind: 'unpriced', subject: { type: 'model', id: route.model } } },
  );
}

/**
 * The alternative claim after money did not cover the first. For a stream with hidden reasoning and too little budget
 * to meter it: its maximum cost. For a non-streaming call: the slice of a folded stream. Null: the refusal stands.
 */
export function prepareOtherwise(refused: PreparedClaim, { kind }: Pick<LimitRefusal, 'kind'>): PreparedClaim | null {
  if (kind !== 'budget' && kind !== 'balance') return null;
  const { basis, claim, slice } = refused;
  if (basis.called.stream) return claim.room === undefined ? null : claimFor(basis, { mode: 'strict', stream: true });
  if (basis.trust === 'nothing' || !basis.called.canFold) return null;
  const again = claimFor(basis, { mode: basis.mode, stream: true });
  // A strict hold of a non-streaming call is its maximum cost, streamed or not, and was already refused.
  return again.slice.amount >= slice.amount ? null : again;
}

function claimFor(basis: Basis, form: HoldForm): PreparedClaim {
  const { called, bound, price, prices } = basis;
  const { callId, principal, inputTokens, outputTokensMax, extras } = called;
  const { mode, stream } = form;
  const own: HoldRequest | null = price === null ? null : { mode, stream, inputTokens, outputTokensMax, price, extras };
  const dearest = own === null || prices === null ? null : chooseDearestHold(own, prices);
  const holdRequest = dearest?.holdRequest ?? own;
  const slice = dearest?.slice ?? (holdRequest === null ? NOTHING : chooseHold(holdRequest));
  const { subjects, arrivedMs, binding } = bound;
  const claim = {
    callId,
    subjects,
    arrivedMs,
    binding,
    prepaidAccount: principal.account.mode === 'prepaid' ? principal.account.id : null,
    tokens: inputTokens,
    amount: slice.amount,
  };
  const room = holdRequest === null || !called.hidesReasoning ? null : roomToMeter(holdRequest, slice);
  return { basis, form, price, holdRequest, slice, claim: room === null ? claim : { ...claim, room } };
}

/**
 * Members of either format that request reasoning. A request that uses one to turn reasoning off counts as one that may
 * reason.
 */
const REASONING_MEMBERS = ['thinking', 'reasoning_effort', 'reasoning'] as const;

function mayHideReasoning({ target, outline }: Routed): boolean {
  if (target.hiddenReasoning !== 'on_request') return target.hiddenReasoning === 'always';
  return REASONING_MEMBERS.some((name) => member(outline.root, name) !== undefined);
}

export function limitNotEnforceable(cause?: string): CallFailure {
  return new CallFailure(
    'quota_exceeded',
    'insufficient quota: the balance or the budget of this API key doesn’t cover this request’s maximum cost, and the model ' +
      'cannot be stopped on the way; lower its maximum of output tokens',
    { ...(cause === undefined ? {} : { cause }), reason: { kind: 'budget_spent' } },
  );
}
