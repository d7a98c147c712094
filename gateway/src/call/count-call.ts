/**
 * Handles one token count from start to finish: identify, admit, read, route, limits, then the host's own counter or an
 * estimate. Counts have their own requests-per-minute and concurrency limits, of the same size as those of calls;
 * budgets, balances and token limits do not apply, because a count costs nothing and leaves no record.
 */
import type { Admission } from '../admission/admission.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { steadyNowMs } from '../lib/deadlines.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { speaks } from '../protocols/names.ts';
import type { AskedModel } from '../protocols/request/request-facts.ts';
import { startTranslationNotes } from '../protocols/request/translation-notes.ts';
import { estimatePromptTokens } from '../tokens/estimate-tokens.ts';
import { familyOf } from '../tokens/token-families.ts';
import { attemptCount } from './attempt/attempt-count.ts';
import type { CollectedAnswer } from './attempt/collect-answer.ts';
import { isJsonObject, readOwnRefusal } from './attempt/read-answer.ts';
import { type CallOrigin, isIdentified, openCall, type Routed, releaseCall } from './call.ts';
import { reportFailure } from './deliver/refuse.ts';
import { countReply, failureReply, plainReply } from './deliver/reply.ts';
import type { CallDeps } from './deps.ts';
import { guardRequest } from './guard/guard-request.ts';
import { redactKeys } from './money/settle.ts';
import { admitUncharged, reportUncharged } from './money/uncharged.ts';
import { estimateTokens } from './money/usage-checks.ts';
import { parseRequest, planCall } from './plan/plan-call.ts';
import type { UpstreamCall } from './plan/upstream-call.ts';
import { admit, identifyCaller, openPlace, routeCall } from './request/identify.ts';
import { readBody, readCall } from './request/read-body.ts';
import { leadToStored } from './stored/lead-to-stored.ts';

/**
 * Answers one token count, also if a step fails. `answer`: for other requests that cost nothing and leave no record, and
 * that the same checks and limits apply to.
 */
export async function countCall(
  request: Request,
  protocol: ClientProtocol,
  origin: CallOrigin,
  deps: CallDeps,
  path: AskedModel | null = null,
  answer: (call: Routed) => Response | Promise<Response> = answerCount,
): Promise<Response> {
  const call = openCall(request, protocol, origin, deps, path);
  const { limits } = call.settings.config;
  let admission: Admission | null = null;
  let reply: Response;
  try {
    identifyCaller(call);
    admit(call);
    const bytes = await readBody(call);
    openPlace(call);
    const read = await readCall(bytes, protocol, { limits, version: call.version, path, countOnly: true });
    const led = read.facts.stored === undefined ? { read, route: null } : await leadToStored(call, read);
    const guard = deps.guardrails.guardOf(call.principal);
    routeCall(call, guard === null ? led.read : await guardRequest(call, guard, led.read, true), led.route);
    const { facts, route } = call;
    admission = await admitUncharged(call, redactKeys(facts.endUser), route.names);
    reply = await answer(call);
  } catch (error) {
    reply = failureReply(reportFailure(call, error), protocol, call.requestId, call.rateLimitStatus);
  } finally {
    admission?.releaseUnlessSettled(steadyNowMs());
    releaseCall(call);
    origin.replyReady();
  }
  if (isIdentified(call)) reportUncharged(call, 'count_tokens', reply.status);
  return reply;
}

async function answerCount(call: Routed): Promise<Response> {
  if (!speaks(call.target.upstream.protocols, call.protocol.name)) {
    return countReply(call, (await countThere(call)) ?? countTokens(call));
  }
  const plan = planCall(call);
  call.dropped = plan.dropped;
  return await deliverCount(call, plan, await attemptCount(call, plan));
}

/** The count of a provider of another format; null: it has no counter, or did not count. */
async function countThere(call: Routed): Promise<number | null> {
  const { target, protocol } = call;
  const format = target.upstream.protocolFor[protocol.name];
  const counting = format?.translates === true ? format.counting : undefined;
  if (counting === undefined) return null;
  try {
    const plan = planCall(call);
    const body = Buffer.from(counting.render(Buffer.from(plan.body).toString(), target.traits));
    const answer = await attemptCount(call, { ...plan, body, nextAttemptAfter: () => null });
    return answer?.head.status === 200 ? counting.read(answer.body) : null;
  } catch (error) {
    // The estimate stands in, unless the client has left.
    if (!(error instanceof CallFailure) || call.request.signal.aborted) throw error;
    return null;
  }
}

/**
 * Tokens of the whole prompt; estimated from the byte count where the canonical format cannot represent the request.
 */
function countTokens(call: Routed): number {
  const { target, facts, protocol, outline } = call;
  if (!protocol.translates) return estimateTokens(facts.inputBytes);
  try {
    const request = parseRequest(protocol, outline, startTranslationNotes(false), facts);
    return estimatePromptTokens(request, familyOf(target.upstream.model));
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return estimateTokens(facts.inputBytes);
  }
}

/** Passes on the host's count or its refusal; counts here where the host has no counter. */
async function deliverCount(call: Routed, plan: UpstreamCall, answer: CollectedAnswer | null): Promise<Response> {
  if (answer === null) return countReply(call, countTokens(call));
  const { head, body } = answer;
  if (head.status !== 200) {
    const refusal = readOwnRefusal(call, answer, plan.protocol);
    if (refusal.body === null) throw refusal.failure;
    call.failure = refusal.failure;
    return plainReply(call, head, refusal.body, head.status, null);
  }
  if (!isJsonObject(body)) {
    throw new CallFailure('upstream_malformed', 'the model provider answered a count of tokens with no JSON object');
  }
  return plainReply(call, head, body, 200, null);
}
