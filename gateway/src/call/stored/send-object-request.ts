/** Sends a request about a stored object to the provider that keeps it: one attempt, ended when the client leaves. */
import type { Config } from '../../config/config.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { asObject, asText, parseObject } from '../../protocols/json.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { UpstreamRequest } from '../../providers/provider.ts';
import type { Target } from '../../routing/route.ts';
import type { UpstreamTap } from '../../upstream/exchange.ts';
import { AnswerCollector, type CollectedAnswer } from '../attempt/collect-answer.ts';
import { readOwnRefusal } from '../attempt/read-answer.ts';
import { failureOf } from '../attempt/upstream-outcome.ts';
import type { Identified } from '../call.ts';
import type { Interruptible } from '../deps.ts';

const NO_BODY = new Uint8Array();

/** What the provider gets beyond the address of the object. */
export type ObjectContent = Partial<
  Pick<UpstreamRequest, 'protocol' | 'operation' | 'headers' | 'body' | 'form' | 'fresh'>
>;

/** The call on whose behalf it is sent. */
type Sender = Pick<Identified, 'requestId' | 'atMs'>;

/** The request about an object, before it is sent. */
export function requestAbout({ requestId, atMs }: Sender, object: ObjectRequest, content: ObjectContent) {
  const plain = { protocol: 'responses', operation: 'plain', headers: [], body: NO_BODY, answers: 1 } as const;
  return { ...plain, object, requestId, atMs, ...content };
}

/**
 * Resolves with the provider's answer of any status. `mayLeave`: a client that leaves ends it. Rejects with CallFailure.
 */
export async function sendObjectRequest(
  call: Identified,
  target: Target,
  credential: number,
  object: ObjectRequest,
  content: ObjectContent = {},
  mayLeave = true,
): Promise<CollectedAnswer> {
  const { request, deps, settings } = call;
  const stopping = new AbortController();
  const running: Interruptible = { interrupt: (failure) => stopping.abort(failure) };
  const leave = () => stopping.abort(new CallFailure('client_left', 'the client left before its answer was complete'));
  const handle = deps.openCalls.add(running);
  if (mayLeave) request.signal.addEventListener('abort', leave);
  if (mayLeave && request.signal.aborted) leave();
  try {
    const sent = requestAbout(call, object, content);
    return await requestObject(target, credential, sent, settings.config.limits, stopping.signal);
  } finally {
    deps.openCalls.remove(handle);
    request.signal.removeEventListener('abort', leave);
  }
}

/** The same for no client. Rejects with the signal's reason too. */
export function requestObject(
  { upstream }: Target,
  credential: number,
  sent: UpstreamRequest,
  limits: Config['limits'],
  signal: AbortSignal,
): Promise<CollectedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<CollectedAnswer>();
  let tap: UpstreamTap | null = null;
  const stop = () => {
    tap?.abort();
    reject(failureOf(signal.reason));
  };
  const collector = new AnswerCollector(limits, {
    onEnough: () => tap?.abort(),
    onAnswer: resolve,
    onAnswerFailed: reject,
  });
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) stop();
    else tap = upstream.openExchange(sent, credential, limits.responseBytesMax, collector);
  } catch (cause) {
    reject(failureOf(cause));
  }
  return promise.finally(() => signal.removeEventListener('abort', stop));
}

const CONFLICT = 409;

/** The provider's refusal. A conflict is the caller's matter as an invalid request is: the object is not in that state. */
export function readObjectRefusal(
  target: Target,
  answered: CollectedAnswer,
  protocol: UpstreamProtocol,
): ReturnType<typeof readOwnRefusal> {
  const { status } = answered.head;
  return readOwnRefusal({ target }, answered, protocol, status === CONFLICT ? 400 : status);
}

/**
 * Whether the provider says that it does not have the object. Any server may answer 404; the provider itself says it with
 * an error: an object, or at xAI a text with its code.
 */
export function saysGone({ head, body }: CollectedAnswer): boolean {
  if (head.status !== 404) return false;
  const { error, code } = parseObject(body.toString('utf8')) ?? {};
  return asObject(error) !== null || (asText(error) !== null && asText(code) !== null);
}
