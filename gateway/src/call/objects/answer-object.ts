/**
 * Answers the routes of objects that clients create at providers: files and conversations. Each belongs to the workspace
 * whose key created it. They cost nothing and leave no record; limits of requests per minute and of concurrency apply as for
 * token counts. Source: contract, 10.12, 10.14 and 10.19.
 */
import type { Admission } from '../../admission/admission.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { messagesClient } from '../../protocols/messages/client/client-protocol.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import type { Collection } from '../../protocols/stored/shared-state.ts';
import { cancelBatch, showBatch } from '../batches/batch-object.ts';
import { type CallOrigin, type Identified, isIdentified, openCall, releaseCall } from '../call.ts';
import { reportFailure } from '../deliver/refuse.ts';
import { failureReply, plainReply } from '../deliver/reply.ts';
import type { CallDeps } from '../deps.ts';
import { refuseUnread } from '../guard/guard-request.ts';
import { admitUncharged, reportUncharged } from '../money/uncharged.ts';
import { admit, identifyCaller, openPlace, readIdempotencyName } from '../request/identify.ts';
import { createObject } from './create-object.ts';
import type { ObjectAnswer } from './exchange-object.ts';
import { listObjects } from './list-objects.ts';
import { type AskedObject, readAskedObject } from './object-routes.ts';
import { findObject, forgetGone, passObject } from './pass-object.ts';
import { type StreamedContent, streamContent } from './stream-content.ts';

/** Answers one request, also if a step fails. `rest`: the path below the collection. `client`: whose paths they are. */
export async function answerObject(
  request: Request,
  origin: CallOrigin,
  deps: CallDeps,
  collection: Collection,
  rest: string,
  client: ClientProtocol = clientOf(request.headers, collection),
): Promise<Response> {
  const call = openCall(request, client, origin, deps);
  let admission: Admission | null = null;
  let answered: { readonly reply: Response; readonly ended: Promise<void> | null };
  try {
    identifyCaller(call);
    admit(call);
    const asked = readAskedObject(request, collection, rest);
    readIdempotencyName(request.headers, false);
    admission = await admitUncharged(call, null, []);
    answered = await answer(call, asked);
  } catch (error) {
    const reply = failureReply(reportFailure(call, error), client, call.requestId, call.rateLimitStatus);
    answered = { reply, ended: null };
  }
  const { reply, ended } = answered;
  const end = () => {
    admission?.releaseUnlessSettled(steadyNowMs());
    releaseCall(call);
    if (isIdentified(call)) reportUncharged(call, 'stored', reply.status);
  };
  if (ended === null) {
    origin.replyReady();
    end();
  } else void ended.then(end);
  return reply;
}

/** Anthropic's clients state a version or betas, and share the path of files with OpenAI's. */
function clientOf(headers: Headers, collection: Collection): ClientProtocol {
  const isAnthropic = headers.has('anthropic-version') || headers.has('anthropic-beta');
  return isAnthropic && collection === 'files' ? messagesClient : responsesClient;
}

async function answer(call: Identified, asked: AskedObject) {
  const { act } = asked;
  refuseUnreadObject(call, asked);
  // A request with a body is open once that has arrived.
  if (act !== 'create' && act !== 'change') openPlace(call);
  if (act === 'list') return whole(plainReply(call, { headers: [] }, await listObjects(call, asked), 200, null));
  if (act === 'content') return answerContent(call, asked);
  if (act === 'show' || act === 'cancel') {
    const { row, place } = await findObject(call, asked);
    if (act === 'cancel') return whole(replyOf(call, await cancelBatch(call, asked, row, place)));
    return whole(plainReply(call, { headers: [] }, await showBatch(call, row, place), 200, null));
  }
  return whole(replyOf(call, await (act === 'create' ? createObject : passObject)(call, asked)));
}

/** Files and conversations are kept at a provider, where no rule of the workspace is applied to them. */
function refuseUnreadObject(call: Identified, { act, object }: AskedObject): void {
  if (act === 'create' || act === 'change')
    refuseUnread(call, 'request', `it writes to ${object.collection} of a provider`);
  const isRead = act === 'content' || (object.collection === 'conversations' && object.method !== 'DELETE');
  if (isRead) refuseUnread(call, 'answer', `it reads from ${object.collection} of a provider`);
}

async function answerContent(call: Identified, asked: AskedObject) {
  const { row, place } = await findObject(call, asked);
  const content: StreamedContent | ObjectAnswer = await streamContent(call, place, asked);
  if ('reply' in content) return content;
  await forgetGone(call, asked, row, content);
  return whole(replyOf(call, content));
}

function replyOf(call: Identified, { head, body, failure }: ObjectAnswer): Response {
  call.failure = failure;
  return plainReply(call, head, body, head.status, null);
}

const whole = (reply: Response) => ({ reply, ended: null });
