/** Sends a request about a stored object to the provider that keeps it: one attempt, ended when the client leaves. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { UpstreamRequest } from '../../providers/provider.ts';
import type { Target } from '../../routing/route.ts';
import type { UpstreamTap } from '../../upstream/exchange.ts';
import { AnswerCollector, type CollectedAnswer } from '../attempt/collect-answer.ts';
import { failureOf } from '../attempt/upstream-outcome.ts';
import type { Identified } from '../call.ts';
import type { Interruptible } from '../deps.ts';

const NO_BODY = new Uint8Array();

/** What the provider gets beyond the address of the object. */
export type ObjectContent = Partial<Pick<UpstreamRequest, 'protocol' | 'headers' | 'body' | 'form' | 'fresh'>>;

/** The request about an object, before it is sent. */
export function requestAbout({ requestId, atMs }: Identified, object: ObjectRequest, content: ObjectContent) {
  const plain = { protocol: 'responses', operation: 'plain', headers: [], body: NO_BODY, answers: 1 } as const;
  return { ...plain, object, requestId, atMs, ...content };
}

/** Resolves with the provider's answer of any status. Rejects with CallFailure. */
export function sendObjectRequest(
  call: Identified,
  { upstream }: Target,
  credential: number,
  object: ObjectRequest,
  content: ObjectContent = {},
): Promise<CollectedAnswer> {
  const { request, deps, settings } = call;
  const { limits } = settings.config;
  const { promise, resolve, reject } = Promise.withResolvers<CollectedAnswer>();
  let tap: UpstreamTap | null = null;
  const interrupt = (failure: CallFailure) => {
    tap?.abort();
    reject(failure);
  };
  const running: Interruptible = { interrupt };
  const leave = () => interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  const handle = deps.openCalls.add(running);
  request.signal.addEventListener('abort', leave);
  const collector = new AnswerCollector(limits, {
    onEnough: () => tap?.abort(),
    onAnswer: resolve,
    onAnswerFailed: reject,
  });
  try {
    if (request.signal.aborted) leave();
    else {
      const sent = requestAbout(call, object, content);
      tap = upstream.openExchange(sent, credential, limits.responseBytesMax, collector);
    }
  } catch (cause) {
    reject(failureOf(cause));
  }
  return promise.finally(() => {
    deps.openCalls.remove(handle);
    request.signal.removeEventListener('abort', leave);
  });
}
