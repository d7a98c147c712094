/**
 * Answers the routes of stored responses: reads, deletes or cancels one, or lists its input, at the provider that keeps it.
 * Only for the workspace whose call made it. Costs nothing and leaves no record; limits of requests per minute and of
 * concurrency apply as for token counts. Source: contract, 10.12 and 10.19.
 */
import type { Admission } from '../../admission/admission.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import { queryOf } from '../../lib/query/url-query.ts';
import { asObject, asText, parseObject } from '../../protocols/json.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { isFinished } from '../../protocols/responses/shared/usage.ts';
import { responsesUpstream } from '../../protocols/responses/upstream/upstream-protocol.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { Target } from '../../routing/route.ts';
import type { StateOwner, StoredRow } from '../../store/ports/stored-state.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { isJsonObject } from '../attempt/read-answer.ts';
import { type CallOrigin, type Identified, isIdentified, openCall, releaseCall } from '../call.ts';
import { reportFailure } from '../deliver/refuse.ts';
import { failureReply, plainReply, streamReply } from '../deliver/reply.ts';
import type { CallDeps } from '../deps.ts';
import { guardBody } from '../guard/guard-answer.ts';
import { refuseUnread } from '../guard/guard-request.ts';
import { admitUncharged, reportUncharged } from '../money/uncharged.ts';
import { admit, identifyCaller, openPlace } from '../request/identify.ts';
import { findPlace } from './find-place.ts';
import type { Conversation } from './open-stored-state.ts';
import { isOldestFirst } from './read-order.ts';
import { readSafely } from './read-safely.ts';
import { readObjectRefusal, saysGone, sendObjectRequest } from './send-object-request.ts';
import { KEPT_HERE } from './stored-by.ts';
import { eventsOf, streamObject } from './stream-object.ts';

/** Answers one request, also if a step fails. `rest`: the path after `/responses/`. */
export async function answerStoredResponse(
  request: Request,
  origin: CallOrigin,
  deps: CallDeps,
  rest: string,
): Promise<Response> {
  const call = openCall(request, responsesClient, origin, deps);
  let admission: Admission | null = null;
  let reply: Reply;
  try {
    identifyCaller(call);
    admit(call);
    openPlace(call);
    const asked = readRequest(request, rest);
    admission = await admitUncharged(call, null, []);
    reply = await answer(call, asked);
  } catch (error) {
    reply = failureReply(reportFailure(call, error), responsesClient, call.requestId, call.rateLimitStatus);
  }
  const release = () => {
    admission?.releaseUnlessSettled(steadyNowMs());
    releaseCall(call);
  };
  const { response, closed } = reply instanceof Response ? { response: reply, closed: null } : reply;
  if (closed === null) release();
  else void closed.then(release);
  if (isIdentified(call)) reportUncharged(call, 'stored', response.status);
  return response;
}

/** `closed`: resolves when the stream has ended. */
type Reply = Response | { readonly response: Response; readonly closed: Promise<void> };

/** A request about one response. */
interface StoredRequest {
  readonly id: string;
  readonly object: ObjectRequest;
  readonly isStream: boolean;
}

/** The methods of each path below a response, and the query members that go on to the provider. */
const ROUTES: ReadonlyMap<string, readonly ObjectRequest['method'][]> = new Map([
  ['', ['GET', 'DELETE']],
  ['cancel', ['POST']],
  ['input_items', ['GET']],
]);
const PASSED: ReadonlySet<string> = new Set(['include', 'include[]', 'limit', 'order', 'after', 'before', 'beta']);
/** Further members where a response is read: the rest of its stream, without padding. */
const STREAMED: ReadonlySet<string> = new Set(['stream', 'starting_after', 'include_obfuscation']);
const ID = /^[\w.-]{1,256}$/;

function readRequest(request: Request, rest: string): StoredRequest {
  const { method } = request;
  const [id = '', below = '', ...more] = rest.split('/');
  const methods = more.length > 0 || !ID.test(id) ? undefined : ROUTES.get(below);
  if (methods === undefined) throw missing();
  const known = methods.find((one) => one === method);
  if (known === undefined) {
    const allow = methods.join(', ');
    throw new CallFailure('method_not_allowed', `${method.slice(0, 20)} is not allowed for this path; use ${allow}`, {
      allow,
    });
  }
  const query = new URLSearchParams();
  for (const [name, value] of queryOf(request)) {
    if (name === 'stream' && value === 'false') continue;
    if (!PASSED.has(name) && !(below === '' && method === 'GET' && STREAMED.has(name)))
      throw invalidRequest(
        `${name.slice(0, 80)}: found an unknown member of the query; leave it out`,
        name.slice(0, 80),
      );
    query.append(name, value);
  }
  const path = below === '' ? `/${id}` : `/${id}/${below}`;
  return { id, object: { method: known, path, query: query.toString() }, isStream: asksForStream(query) };
}

function asksForStream(query: URLSearchParams): boolean {
  const stream = query.get('stream');
  if (stream !== null && stream !== 'true') throw invalidRequest('stream: expected true or false', 'stream');
  const after = query.get('starting_after');
  if (after !== null && (stream === null || !/^\d{1,15}$/.test(after)))
    throw invalidRequest('starting_after: expected the number of an event, with stream=true', 'starting_after');
  return stream !== null;
}

/** Of an unknown response, of one of another workspace, and of one whose provider is gone. */
function missing(): CallFailure {
  return new CallFailure('not_found', 'this response is not stored for this workspace', { closeConnection: false });
}

async function answer(call: Identified, { id, object, isStream }: StoredRequest): Promise<Reply> {
  const { deps, principal, settings } = call;
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const row = await findResponse(call, owner, id);
  if (row?.provider === KEPT_HERE) return answerHere(call, owner, row, { id, object, isStream });
  const place = row === null ? null : findPlace(settings.routes, row);
  if (row === null || place === null) throw missing();
  const guard = deps.guardrails.guardOf(principal)?.answer ?? null;
  if (isStream) refuseUnread(call, 'answer', 'it reads the stream of a stored response');
  // Nothing tells what it used once it is deleted.
  if (object.method === 'DELETE') await deps.detached.settleIfEnded(row.request_id);
  const sent = isStream
    ? await streamObject(call, place, object, eventsOf(call))
    : await sendObjectRequest(call, place.target, place.credential, object);
  if ('closed' in sent) {
    const closed = sent.closed.then(() => deps.detached.wake(row.request_id));
    return { response: streamReply(call, sent.body), closed };
  }
  const answered = 'answer' in sent ? sent.answer : sent;
  const { path } = object;
  const { head, body } = answered;
  // A host may lack a path below a response.
  if (isWhole(path) && saysGone(answered)) {
    await forget(call, () => deps.storedState.forget(owner, row.request_id));
    throw missing();
  }
  if (head.status !== 200) return refusal(call, place.target, answered);
  if (object.method === 'DELETE') {
    await forget(call, () => deps.storedState.forget(owner, row.request_id));
    return plainReply(call, head, deletionOf(id), 200, null);
  }
  if (!isJsonObject(body)) {
    throw new CallFailure('upstream_malformed', 'the model provider answered with no JSON object');
  }
  if (!path.endsWith('/input_items') && hasEnded(body)) deps.detached.wake(row.request_id);
  return plainReply(call, head, guard === null ? body : await guardBody(call, guard, body), 200, null);
}

/** Whether a path names the response itself. */
const isWhole = (path: string) => path.lastIndexOf('/') === 0;

/** Whether a response object says that it goes on no more. */
function hasEnded(body: Buffer): boolean {
  return isFinished(parseObject(body.toString('utf8')) ?? {});
}

/** Answers for a response that is kept here. */
async function answerHere(
  call: Identified,
  owner: StateOwner,
  { request_id }: StoredRow,
  { id, object, isStream }: StoredRequest,
): Promise<Response> {
  const { deps } = call;
  if (isStream) throw invalidRequest('stream: a response that is kept here has ended; leave it out', 'stream');
  const conversation = await readSafely(() => deps.storedState.read(owner, request_id));
  if (conversation === null) throw missing();
  if (object.method === 'POST') throw invalidRequest('only responses that run in the background can be cancelled');
  if (object.method === 'DELETE') {
    await readSafely(() => deps.storedState.forget(owner, request_id));
    return plainReply(call, NO_HEAD, deletionOf(id), 200, null);
  }
  const body = object.path.endsWith('/input_items')
    ? JSON.stringify(listInput(conversation, new URLSearchParams(object.query)))
    : conversation.response;
  const guard = deps.guardrails.guardOf(call.principal)?.answer ?? null;
  return plainReply(call, NO_HEAD, guard === null ? body : await guardBody(call, guard, body), 200, null);
}

const NO_HEAD = { headers: [] };

function deletionOf(id: string): string {
  return JSON.stringify({ id, object: 'response', deleted: true });
}

async function findResponse({ deps }: Identified, owner: StateOwner, id: string): Promise<StoredRow | null> {
  const rows = await readSafely(() => deps.storedState.find(owner, [id], Date.now()));
  return rows.find(({ kind }) => kind === 'response') ?? null;
}

/** A row that stays after all only leads to a 404. */
async function forget({ deps, requestId }: Identified, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    deps.log.fault(requestId, 'the row of a deleted response could not be deleted', cause);
  }
}

/** The provider's refusal of the request in its own words; any other trouble is thrown. */
function refusal(call: Identified, target: Target, answered: CollectedAnswer): Response {
  const { failure, body } = readObjectRefusal(target, answered, responsesUpstream);
  if (body === null) throw failure;
  call.failure = failure;
  return plainReply(call, answered.head, body, answered.head.status, null);
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** The items of the input as a page (specification of the Responses API, A.1): newest first unless `order=asc`. Items without an id get one for the paging. */
function listInput({ input }: Conversation, query: URLSearchParams): object {
  if (query.has('before'))
    throw invalidRequest('before: is not known for a response that is kept here; use after', 'before');
  const limit = Number(query.get('limit') ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw invalidRequest(`limit: found ${query.get('limit')}; expected an integer from 1 to ${LIMIT_MAX}`, 'limit');
  }
  const given = JSON.parse(`[${input}]`) as unknown[];
  const items = given.map((item, index) => {
    const members = asObject(item) ?? {};
    return { type: 'message', ...members, id: asText(members.id) ?? `msg_in_${index}` };
  });
  if (!isOldestFirst(query)) items.reverse();
  const after = query.get('after');
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) throw invalidRequest('after: found no such item', 'after');
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}
