/**
 * Switches a call to another target before its next attempt, with its money: there is one hold around all attempts, and
 * a dearer target extends it first. Source: routing design, section 6.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { speaks } from '../../protocols/names.ts';
import type { Target } from '../../routing/route.ts';
import { type Held, type Routed, setPriced, setTarget } from '../call.ts';
import { allowNamedModels, type PricedRequest } from '../plan/named-models.ts';
import { describeCall, type PreparedClaim, prepareClaim, prepareOtherwise } from './hold-call.ts';
import { draftRecord, unrecorded } from './settle.ts';

/**
 * Sets the call's target, its prices and whether its answer is folded. False: neither the caps nor the balance cover the
 * target, and nothing has changed. Rejects with CallFailure where the target cannot serve the request: it has no price
 * where one is needed, its provider lacks a model that the request names, or the extension cannot be stored; also then
 * nothing has changed.
 */
export async function switchTarget(call: Held, target: Target): Promise<boolean> {
  const goBack = enterTarget(call, target);
  let isCovered = false;
  try {
    setPriced(call, pricedMembersAt(call, target));
    isCovered = await coverTarget(call);
  } finally {
    if (!isCovered) goBack();
  }
  return isCovered;
}

/**
 * Like `switchTarget`, at once: false also where the hold would have to be extended, or the target cannot serve the
 * request.
 */
export function switchWithinHold(call: Held, target: Target): boolean {
  const goBack = enterTarget(call, target);
  let isCovered = false;
  try {
    setPriced(call, pricedMembersAt(call, target));
    const { price, holdRequest, slice, claim, form } = claimFor(call);
    const draft = draftRecord(call, price?.version ?? null);
    isCovered = call.money.moveWithin({ price, holdRequest, slice, draft }, claim.room ?? slice.amount);
    if (isCovered) call.folded = form.stream && !call.facts.stream;
  } catch (failure) {
    if (!(failure instanceof CallFailure)) throw failure;
  } finally {
    if (!isCovered) goBack();
  }
  return isCovered;
}

/** Sets the target, with nothing priced yet; the returned function sets what was before. */
function enterTarget(call: Held, target: Target): () => void {
  const { target: before, priced } = call;
  setTarget(call, target);
  setPriced(call, null);
  return () => {
    setTarget(call, before);
    setPriced(call, priced);
  };
}

/** The models that the request names beside its own, at the target's provider; null: none, or the request is translated. */
export function pricedMembersAt(call: Routed, target: Target): PricedRequest | null {
  const { settings, principal, route, protocol, facts, routed } = call;
  if (facts.priced === undefined || !speaks(target.upstream.protocols, protocol.name)) return null;
  const tags = routed?.tags ?? [];
  return allowNamedModels(settings, { principal, route, target, protocol: protocol.name, tags }, facts.priced);
}

async function coverTarget(call: Held): Promise<boolean> {
  const claim = claimFor(call);
  if (await holdFor(call, claim)) return true;
  const other = prepareOtherwise(claim, { kind: 'balance' });
  return other !== null && holdFor(call, other);
}

function claimFor(call: Held): PreparedClaim {
  return prepareClaim(call.settings.config.defaults, call.deps.billing, describeCall(call));
}

async function holdFor(call: Held, { price, holdRequest, slice, claim, form }: PreparedClaim): Promise<boolean> {
  const draft = draftRecord(call, price?.version ?? null);
  const moving = call.money.moveTo({ price, holdRequest, slice, draft }, claim.room ?? slice.amount);
  const moved = await moving.catch((cause: unknown) => {
    throw unrecorded(cause);
  });
  if (moved) call.folded = form.stream && !call.facts.stream;
  if (moved && price === null) call.deps.log.unpriced(call.requestId, call.route.model);
  return moved;
}
