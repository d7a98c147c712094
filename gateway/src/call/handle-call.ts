/**
 * Handles one call from start to finish: identify, admit, read, route, plan, replay, look up, hold, attempt, deliver, settle.
 * Every step is a plain function that returns a value or throws CallFailure; the only catch is here.
 */

import type { ClientProtocol } from '../protocols/client-protocol.ts';
import type { AskedModel } from '../protocols/request/request-facts.ts';
import { attempt } from './attempt/attempt.ts';
import { planFirst } from './attempt/call-targets.ts';
import { answerFromCache } from './cache/answer-from-cache.ts';
import { type CallOrigin, openCall, releaseCall, setMoney } from './call.ts';
import { ContentDraft } from './content/content-draft.ts';
import { deliver } from './deliver/deliver.ts';
import { refuse } from './deliver/refuse.ts';
import type { CallDeps } from './deps.ts';
import { replayOrBegin } from './idempotency/idempotency.ts';
import { holdCall } from './money/hold-call.ts';
import { planCall } from './plan/plan-call.ts';
import { admit, identifyCaller, openPlace, readIdempotencyName, routeCall } from './request/identify.ts';
import { readBody, readCall, takesForm } from './request/read-body.ts';
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
  const { limits, defaults } = call.settings.config;
  let streams = false;
  try {
    identifyCaller(call);
    admit(call);
    const bytes = await (takesForm(call) ? readForm(call) : readBody(call));
    openPlace(call);
    const policy = call.principal.bodies ?? defaults.logBodies;
    if (policy !== 'off') call.content = new ContentDraft(deps.content, policy, call, call.principal, bytes);
    const read = readCall(bytes, protocol, { limits, version: call.version, path, countOnly: false });
    const found = read instanceof Promise ? await read : read;
    const { stored, background } = found.facts;
    if (stored === undefined && background === undefined) routeCall(call, found, null);
    else {
      const led = await leadToStored(call, found);
      routeCall(call, led.read, led.route);
    }
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
