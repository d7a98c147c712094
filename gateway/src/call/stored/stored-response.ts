/**
 * Answers the routes of stored responses: reads, deletes or cancels one, or lists its input, at the provider that keeps it.
 * Only for the workspace whose call made it. Costs nothing and leaves no record; limits of requests per minute and of
 * concurrency apply as for token counts. Source: contract, 10.12 and 10.19.
 */
import type { Admission } from '../../admission/admission.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import { queryOf } from '../../lib/url-query.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { responsesUpstream } from '../../protocols/responses/upstream/upstream-protocol.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { RouteTable, Target } from '../../routing/route.ts';
import type { StateOwner, StoredRow } from '../../store/ports/stored-state.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { isJsonObject, readOwnRefusal } from '../attempt/read-answer.ts';
import { type CallOrigin, type Identified, isIdentified, openCall, releaseCall } from '../call.ts';
import { reportFailure } from '../deliver/refuse.ts';
import { failureReply, plainReply } from '../deliver/reply.ts';
import type { CallDeps } from '../deps.ts';
import { admitUncharged, reportUncharged } from '../money/uncharged.ts';
import { admit, identifyCaller, openPlace } from '../request/identify.ts';
import { listInput } from './answer-kept.ts';
import { KEPT_HERE } from './keep-response.ts';
import { readSafely } from './read-safely.ts';
import { sendObjectRequest } from './send-object-request.ts';

/** Answers one request, also if a step fails. `rest`: the path after `/responses/`. */
export async function answerStoredResponse(
  request: Request,
  origin: CallOrigin,
  deps: CallDeps,
  rest: string,
): Promise<Response> {
  const call = openCall(request, responsesClient, origin, deps);
  let admission: Admission | null = null;
  let reply: Response;
  try {
    identifyCaller(call);
    admit(call);
    openPlace(call);
    const asked = readRequest(request, rest);
    admission = await admitUncharged(call, null, []);
    reply = await answer(call, asked);
  } catch (error) {
    reply = failureReply(reportFailure(call, error), responsesClient, call.requestId, call.rateLimitStatus);
  } finally {
    admission?.releaseUnlessSettled(steadyNowMs());
    releaseCall(call);
  }
  if (isIdentified(call)) reportUncharged(call, 'stored', reply.status);
  return reply;
}

/** A request about one response. */
interface StoredRequest {
  readonly id: string;
  readonly object: ObjectRequest;
}

/** The methods of each path below a response, and the query members that go on to the provider. */
const ROUTES: ReadonlyMap<string, readonly ObjectRequest['method'][]> = new Map([
  ['', ['GET', 'DELETE']],
  ['cancel', ['POST']],
  ['input_items', ['GET']],
]);
const PASSED: ReadonlySet<string> = new Set(['include', 'include[]', 'limit', 'order', 'after', 'before', 'beta']);
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
    if (name === 'stream' || name === 'starting_after')
      throw invalidRequest(`${name}: a stored response is not streamed here; leave it out`, name);
    if (!PASSED.has(name))
      throw invalidRequest(
        `${name.slice(0, 80)}: found an unknown member of the query; leave it out`,
        name.slice(0, 80),
      );
    query.append(name, value);
  }
  const path = below === '' ? `/${id}` : `/${id}/${below}`;
  return { id, object: { method: known, path, query: query.toString() } };
}

/** Of an unknown response, of one of another workspace, and of one whose provider is gone. */
function missing(): CallFailure {
  return new CallFailure('not_found', 'this response is not stored for this workspace', { closeConnection: false });
}

async function answer(call: Identified, { id, object }: StoredRequest): Promise<Response> {
  const { deps, principal, settings } = call;
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const row = await findResponse(call, owner, id);
  if (row?.provider === KEPT_HERE) return answerHere(call, owner, row, { id, object });
  const place = row === null ? null : findPlace(settings.routes, row);
  if (row === null || place === null) throw missing();
  const answered = await sendObjectRequest(call, place.target, place.credential, object);
  const { head, body } = answered;
  if (head.status === 404) {
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
  return plainReply(call, head, body, 200, null);
}

/** Answers for a response that is kept here. */
async function answerHere(
  call: Identified,
  owner: StateOwner,
  { request_id }: StoredRow,
  { id, object }: StoredRequest,
): Promise<Response> {
  const { deps } = call;
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
  return plainReply(call, NO_HEAD, body, 200, null);
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

interface Place {
  readonly target: Target;
  /** Index of the credential that keeps the response. */
  readonly credential: number;
}

/** Any target of the provider with the credential will do, best the one of the same model; null: no such target exists now. */
function findPlace(routes: RouteTable, row: StoredRow): Place | null {
  let found: Place | null = null;
  for (const { targets } of routes.values()) {
    for (const target of targets) {
      const { upstream } = target;
      if (upstream.provider !== row.provider || !upstream.state.isKept || !upstream.protocols.includes('responses'))
        continue;
      const credential = upstream.credentials.findIndex(({ name }) => name === row.credential);
      if (credential === -1) continue;
      if (upstream.model === row.model) return { target, credential };
      found ??= { target, credential };
    }
  }
  return found;
}

/** The provider's refusal of the request in its own words; any other trouble is thrown. */
function refusal(call: Identified, target: Target, answered: CollectedAnswer): Response {
  const { failure, body } = readOwnRefusal({ target }, answered, responsesUpstream);
  if (body === null) throw failure;
  call.failure = failure;
  return plainReply(call, answered.head, body, answered.head.status, null);
}
