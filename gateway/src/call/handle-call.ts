/**
 * Handles one call from start to finish: identify, admit, read, route, plan, replay, look up, hold, attempt, deliver, settle.
 * Every step is a plain function that returns a value or throws CallFailure; the only catch is here.
 */

import type { Guard } from '../guardrails/guardrails.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import type { AskedModel } from '../protocols/request/request-facts.ts';
import { attempt } from './attempt/attempt.ts';
import { planFirst } from './attempt/call-targets.ts';
import { answerFromCache } from './cache/answer-from-cache.ts';
import { type CallOrigin, type Identified, openCall, releaseCall, setFacts, setMoney } from './call.ts';
import { ContentDraft } from './content/content-draft.ts';
import { deliver } from './deliver/deliver.ts';
import { refuse } from './deliver/refuse.ts';
import type { CallDeps } from './deps.ts';
import { guardRequest } from './guard/guard-request.ts';
import { replayOrBegin } from './idempotency/idempotency.ts';
import { holdCall } from './money/hold-call.ts';
import { planCall } from './plan/plan-call.ts';
import { admit, identifyCaller, openPlace, readIdempotencyName, routeCall } from './request/identify.ts';
import { type ReadCall, readBody, readCall, takesForm } from './request/read-body.ts';
import { leadToStored } from './stored/lead-to-stored.ts';
import { readForm } from './upload/read-form.ts';

/** Answers one call, also if a step fails. */
export async function handleCall(
  request: Request,
  protocol: ClientProtocol,
  origin: CallOrigin,
  deps: CallDeps,
  path: AskedModel | null = null,
): Promise<Response> {
  const call = openCall(request, protocol, origin, deps, path);
  const { limits } = call.settings.config;
  let streams = false;
  try {
    identifyCaller(call);
    admit(call);
    const bytes = await (takesForm(call) ? readForm(call) : readBody(call));
    openPlace(call);
    const guard = deps.guardrails.guardOf(call.principal);
    if (guard === null) keepContent(call, bytes);
    const read = readCall(bytes, protocol, { limits, version: call.version, path, countOnly: false });
    const found = read instanceof Promise ? await read : read;
    const { stored, background } = found.facts;
    const isLed = stored !== undefined || background !== undefined;
    const led = isLed ? await leadToStored(call, found) : { read: found, route: null };
    routeCall(call, guard === null ? led.read : await guardCall(call, guard, led.read), led.route);
    const plan = planFirst(call);
    call.dropped = plan.dropped;
    const name = readIdempotencyName(request.headers, protocol.isReplayable);
    const replayed = name === null ? null : await replayOrBegin(call, name);
    if (replayed !== null) return replayed;
    const cached = call.principal.cache === null ? null : await answerFromCache(call);
    if (cached !== null) return cached;
    const holding = holdCall(call);
    setMoney(call, holding instanceof Promise ? await holding : holding);
    const outcome = await attempt(call, call.folded ? planCall(call, true) : plan);
    streams = outcome.kind === 'stream';
    return await deliver(call, outcome);
  } catch (error) {
    return await refuse(call, error);
  } finally {
    // A stream releases its resources when it closes.
    if (!streams) {
      releaseCall(call);
      origin.replyReady();
    }
  }
}

/** Stores a guarded request as its rules leave it, and nothing of one that they refuse. */
async function guardCall(call: Identified, guard: Guard, read: ReadCall): Promise<ReadCall> {
  call.guard = guard;
  setFacts(call, read.outline, read.facts);
  const guarded = await guardRequest(call, guard, read);
  if (guarded.outline !== read.outline) call.unguarded = read.outline.bytes;
  keepContent(call, guarded.outline.bytes);
  return guarded;
}

/** Collects the bodies of a call whose workspace stores them. */
function keepContent(call: Identified, bytes: Uint8Array): void {
  const { deps, principal, settings } = call;
  const policy = principal.bodies ?? settings.config.defaults.logBodies;
  if (policy !== 'off') call.content = new ContentDraft(deps.content, policy, call, principal, bytes);
}
