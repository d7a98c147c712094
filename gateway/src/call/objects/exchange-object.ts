/** Sends a request about an object to the provider that keeps it, and judges the answer. */
import { CallFailure } from '../../errors/call-failure.ts';
import { messagesUpstream } from '../../protocols/messages/upstream/upstream-protocol.ts';
import { responsesUpstream } from '../../protocols/responses/upstream/upstream-protocol.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { isJsonObject } from '../attempt/read-answer.ts';
import { type Identified, setTarget } from '../call.ts';
import { type ObjectContent, readObjectRefusal, sendObjectRequest } from '../stored/send-object-request.ts';
import type { ObjectPlace } from './choose-place.ts';

/** The format of each provider's objects. */
export const UPSTREAMS = { responses: responsesUpstream, messages: messagesUpstream } as const;

/** What the client gets. `failure`: the provider's refusal, in its own words; null: it did what was asked. */
export interface ObjectAnswer extends Pick<CollectedAnswer, 'head' | 'body'> {
  readonly failure: CallFailure | null;
}

/** Throws CallFailure for any trouble that is not the caller's. */
export async function exchangeObject(
  call: Identified,
  place: ObjectPlace,
  object: ObjectRequest,
  content: ObjectContent = {},
): Promise<ObjectAnswer> {
  const sent = { ...content, ...formatOf(call, place) };
  return judgeAnswer(call, place, await sendObjectRequest(call, place.target, place.credential, object, sent));
}

/** The format of the request, and the headers of the client that the provider may see. */
export function formatOf({ request, version }: Identified, { target }: ObjectPlace): ObjectContent {
  const { protocols, state } = target.upstream;
  const { forwardHeaders } = UPSTREAMS[state.format].passThrough;
  const [protocol = state.format] = protocols;
  return { protocol, headers: forwardHeaders(request.headers, version) };
}

/** Throws CallFailure, as `exchangeObject`. */
export function judgeAnswer(call: Identified, { target }: ObjectPlace, answered: CollectedAnswer): ObjectAnswer {
  const { head, body } = answered;
  // Hosts answer a creation with 200 or 201.
  if (head.status >= 200 && head.status < 300) {
    if (isJsonObject(body)) return { head, body, failure: null };
    throw new CallFailure('upstream_malformed', 'the model provider answered with no JSON object');
  }
  // An alarm names the provider.
  setTarget(call, target);
  const refusal = readObjectRefusal(target, answered, UPSTREAMS[target.upstream.state.format]);
  if (refusal.body === null) throw refusal.failure;
  return { head, body: refusal.body, failure: refusal.failure };
}
