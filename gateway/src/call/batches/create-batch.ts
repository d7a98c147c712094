/**
 * Creates a batch at a provider: checks its requests, holds the sum of their maximum costs, and leaves the hold to the
 * account until the batch has ended. One batch is one call: one hold, one settlement, one record. Source: contract, 10.13.
 */
import { type Admission, admitCall } from '../../admission/admission.ts';
import { refusalOf } from '../../admission/limit-messages.ts';
import { parsePriceVersion } from '../../billing/price.ts';
import { invalidRequest } from '../../errors/call-failure.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { messagesClient } from '../../protocols/messages/client/client-protocol.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { refuse as refuseMember } from '../../protocols/request/request-facts.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import type { DetachedJob } from '../../store/ports/ledger.ts';
import { NEVER_MS } from '../../store/ports/stored-state.ts';
import { readLines } from '../../wire/json-lines.ts';
import { children, type JsonOutline, member, memberName, stringValue } from '../../wire/json-node.ts';
import {
  type CallOrigin,
  type Held,
  type Identified,
  openCall,
  releaseCall,
  setFacts,
  setMoney,
  setRoute,
  setTarget,
} from '../call.ts';
import { refuse } from '../deliver/refuse.ts';
import { plainReply } from '../deliver/reply.ts';
import type { CallDeps } from '../deps.ts';
import { DEADLINE_MS, leaveCall } from '../detached/detach-call.ts';
import { refuseUnread } from '../guard/guard-request.ts';
import { CallMoney } from '../money/call-money.ts';
import { RefusedHold } from '../money/hold-call.ts';
import { draftRecord, settle } from '../money/settle.ts';
import { admitUncharged } from '../money/uncharged.ts';
import { type ObjectPlace, placeForNew, placeOf } from '../objects/choose-place.ts';
import { exchangeObject, formatOf, judgeAnswer } from '../objects/exchange-object.ts';
import { noCollection } from '../objects/object-routes.ts';
import { admit, identifyCaller, openPlace, readIdempotencyName } from '../request/identify.ts';
import { readBody, readOutline } from '../request/read-body.ts';
import { findRows } from '../stored/lead-to-stored.ts';
import { requestAbout, sendObjectRequest } from '../stored/send-object-request.ts';
import { keptObject, readBatch, shown } from './batch-object.ts';
import { BatchCheck } from './check-batch.ts';
import { readContent } from './object-content.ts';
import { checkInline, checkLines, countLongest, INPUT_BYTES_MAX, INPUT_LINES_MAX } from './read-requests.ts';

const AS_BATCH = { recordedAs: 'batches', isReplayable: false } as const;
/** The formats of the requests that create batches, by their paths. */
export const OPENAI_BATCHES: ClientProtocol = { ...responsesClient, ...AS_BATCH };
export const ANTHROPIC_BATCHES: ClientProtocol = { ...messagesClient, ...AS_BATCH };

/** The endpoints whose requests a batch may have, with the formats of those. Images have prices by size, which no answer in a batch shows. */
const ENDPOINTS = new Map(
  (['chat', 'responses', 'embeddings', 'completions', 'moderations'] as const).map((name) => {
    const format: ClientProtocol = CLIENT_PROTOCOLS[name];
    return [`/v1${format.endpoints[0]?.path}`, { name, format }];
  }),
);
const ENDPOINT_NAMES = `one of ${[...ENDPOINTS.keys()].join(', ')}`;
/** Others could change what the requests cost: hosts have some that name a model for all of them. */
const OPENAI_MEMBERS: ReadonlySet<string> = new Set([
  'input_file_id',
  'endpoint',
  'completion_window',
  'metadata',
  'output_expires_after',
]);
/** Hosts have other prices for a shorter one, and a longer one would outlast the deadline of the hold. */
const WINDOW = '24h';
const ANTHROPIC_MEMBERS: ReadonlySet<string> = new Set(['requests']);
type BatchFormat = 'chat' | 'responses' | 'embeddings' | 'completions' | 'moderations' | 'messages';

/** A batch whose requests were checked, and where it goes. */
interface CheckedBatch {
  readonly check: BatchCheck;
  readonly place: ObjectPlace;
  /** Of its requests and answers. */
  readonly format: BatchFormat;
}

/** Answers one request, also if a step fails. */
export async function createBatch(
  request: Request,
  origin: CallOrigin,
  deps: CallDeps,
  client: ClientProtocol,
): Promise<Response> {
  const call = openCall(request, client, origin, deps);
  let checking: Admission | null = null;
  try {
    identifyCaller(call);
    admit(call);
    readIdempotencyName(request.headers, false);
    const body = await readBody(call);
    openPlace(call);
    for (const side of ['request', 'answer'] as const) refuseUnread(call, side, 'the provider answers batches later');
    // A few bytes may name a long file: a batch that is refused takes its part of the limits too.
    checking = await admitUncharged(call, null, []);
    const outline = await readOutline(body, call.settings.config.limits);
    if (outline.root.kind !== 'object')
      throw invalidRequest(`the body is ${outline.root.kind}; expected a JSON object`);
    const batch = await (client === ANTHROPIC_BATCHES ? checkBody : checkFile)(call, outline);
    const job = await holdBatch(call, outline, batch);
    return await sendBatch(call as Held, body, batch.place, job);
  } catch (error) {
    return await refuse(call, error);
  } finally {
    checking?.releaseUnlessSettled(steadyNowMs());
    releaseCall(call);
    origin.replyReady();
  }
}

/** OpenAI's: the requests are in a file of the workspace. */
async function checkFile(call: Identified, outline: JsonOutline): Promise<CheckedBatch> {
  const id = textOf(outline, 'input_file_id', 'the id of a file that was uploaded with the purpose "batch"');
  const path = textOf(outline, 'endpoint', ENDPOINT_NAMES);
  const endpoint = ENDPOINTS.get(path);
  if (endpoint === undefined) throw refuseMember('endpoint', member(outline.root, 'endpoint') ?? null, ENDPOINT_NAMES);
  const file = { path: 'input_file_id', kind: 'file', id } as const;
  const place = placeOf(call, 'files', file, [], await findRows(call, [file]));
  const { upstream } = place.target;
  if (!upstream.state.creates.includes('batches')) throw noCollection('batches');
  refuseOthers(outline, OPENAI_MEMBERS);
  const window = member(outline.root, 'completion_window');
  if (window !== undefined && stringValue(window) !== WINDOW) {
    throw refuseMember('completion_window', window, JSON.stringify(WINDOW));
  }
  // An alarm names the provider.
  setTarget(call, place.target);
  const check = new BatchCheck(call, endpoint.format, nameOf(place));
  const about = { method: 'GET', collection: 'files', path: `/${id}/content`, query: '' } as const;
  const content = { ...formatOf(call, place), form: { upload: null, acceptsAny: true } };
  const asked = requestAbout(call, about, content);
  const open = upstream.openExchange.bind(upstream, asked, place.credential, Number.MAX_SAFE_INTEGER);
  const chunks = readContent(open, INPUT_BYTES_MAX, call.request.signal);
  const { body, settings } = call;
  if (body === null) throw new Error('the body of the call was read');
  const { limits } = settings.config;
  const lines = readLines(chunks, limits.bodyBytesMax, INPUT_LINES_MAX);
  await checkLines(countLongest(lines, body, limits), path, check);
  return { check, place, format: endpoint.name };
}

/** Anthropic's: the requests are in the body. */
async function checkBody(call: Identified, outline: JsonOutline): Promise<CheckedBatch> {
  const place = placeForNew(call, 'batches');
  refuseOthers(outline, ANTHROPIC_MEMBERS);
  const check = new BatchCheck(call, messagesClient, nameOf(place));
  await checkInline(outline, check);
  return { check, place, format: 'messages' };
}

function refuseOthers({ root }: JsonOutline, known: ReadonlySet<string>): void {
  const other = children(root)
    .map(memberName)
    .find((name) => !known.has(name));
  if (other === undefined) return;
  const name = other.slice(0, 80);
  throw invalidRequest(`${name}: a batch does not take it; leave it out`, name);
}

function textOf({ root }: JsonOutline, name: string, expected: string): string {
  const node = member(root, name);
  const text = node === undefined ? undefined : stringValue(node);
  if (text === undefined || text === '') throw refuseMember(name, node ?? null, expected);
  return text;
}

function nameOf({ target: { upstream }, credential }: ObjectPlace) {
  return { provider: upstream.provider, credential: upstream.credentials[credential]?.name ?? 'default' };
}

/**
 * Holds the money; then the call has its route and its money. Throws CallFailure if a limit refuses it. Tokens per minute do
 * not apply: the provider takes its time.
 */
async function holdBatch(
  call: Identified,
  outline: JsonOutline,
  { check, place, format }: CheckedBatch,
): Promise<Omit<DetachedJob, 'id'>> {
  const { deps, principal, requestId: callId, atMs: arrivedMs } = call;
  const { billing } = deps;
  const { amount, requests, inputTokens, outputTokens } = check;
  const prices = check.keptPrices();
  const [first] = [...check.models.values()];
  const [price] = prices;
  if (first === undefined || price === undefined) throw new Error('a checked batch has requests');
  const { route, target } = first;
  setFacts(call, outline, { ...check.first, model: route.model, endUser: check.endUser });
  setRoute(call, route, target);
  const names = [...new Set([...check.models.values()].flatMap((one) => one.route.names))];
  const { account, keyId, workspaceId } = principal;
  const subjects = { keyId, workspaceId, accountId: account.id, endUser: check.endUser, models: names };
  const binding = billing.rules
    .bindingCapsOf(subjects, billing.budgetZoneOf, arrivedMs)
    .map(({ caps, ...one }) => ({ ...one, caps: { ...caps, tokensPerMinute: null } }));
  const prepaidAccount = account.mode === 'prepaid' ? account.id : null;
  const claim = { callId, subjects, arrivedMs, binding, prepaidAccount, tokens: 0, amount };
  const admitted = await admitCall(billing.limits, claim, steadyNowMs());
  if (admitted.kind === 'refused') {
    call.rateLimitStatus = admitted.rateLimitStatus;
    throw refusalOf(admitted.refusal);
  }
  const { admission } = admitted;
  call.rateLimitStatus = admission.rateLimitStatus;
  const draft = draftRecord(call, price.version);
  setMoney(
    call,
    new CallMoney({
      price: parsePriceVersion(price.version),
      holdRequest: null,
      slice: { amount, outputTokens, extendAtTokens: null },
      admission,
      ledger: billing.ledger,
      draft,
      saved: billing.ledger.hold({ draft, amount }),
      unsaved: new RefusedHold(call, amount),
      brokenAnswers: call.settings.config.defaults.brokenAnswers,
    }),
  );
  return {
    kind: 'batch',
    ...nameOf(place),
    model: target.upstream.model,
    deadline_ms: arrivedMs + DEADLINE_MS,
    held_tokens: { input: inputTokens, output: outputTokens },
    price_version: price.version,
    attempts: [],
    batch: { format, prices, vendor: target.catalog?.provider ?? null, requests },
  };
}

/** The client may leave meanwhile: a batch that the provider has made is followed all the same. */
async function sendBatch(
  call: Held,
  body: Buffer,
  place: ObjectPlace,
  job: Omit<DetachedJob, 'id'>,
): Promise<Response> {
  const { deps, money, principal, requestId } = call;
  await money.whenSaved();
  const about = { method: 'POST', collection: 'batches', path: '', query: '' } as const;
  const sent = { ...formatOf(call, place), body, fresh: true };
  call.attempted = true;
  const answer = judgeAnswer(
    call,
    place,
    await sendObjectRequest(call, place.target, place.credential, about, sent, false),
  );
  if (answer.failure !== null) {
    call.failure = answer.failure;
    await settle(call, { status: answer.head.status, failure: answer.failure.kind, facts: null });
    return plainReply(call, answer.head, answer.body, answer.head.status, null);
  }
  const { id } = readBatch(answer.body);
  const { provider, model, credential } = job;
  const stored = { provider, model, credential, tokens: 0, output_tokens: 0, expires_at_ms: NEVER_MS };
  try {
    leaveCall(call, await money.detach({ ...job, id }, { ...stored, things: [{ kind: 'batch', id }] }));
  } catch (failure) {
    await cancel(call, place, id);
    throw failure;
  }
  const owner = { account: principal.account.id, workspace: principal.workspaceId, request_id: requestId };
  const { output_tokens: _, ...row } = stored;
  try {
    await deps.storedState.add({ ...owner, ...row, id, kind: 'batch', object: keptObject(answer.body) });
  } catch (cause) {
    deps.log.fault(requestId, 'a batch is in no list until it is polled', cause);
  }
  return plainReply(call, answer.head, shown(call, answer.body.toString()), 200, null);
}

/** No account would pay for it, and no key could read it. */
async function cancel(call: Held, place: ObjectPlace, id: string): Promise<void> {
  const about = { method: 'POST', collection: 'batches', path: `/${id}/cancel`, query: '' } as const;
  try {
    await exchangeObject(call, place, about);
  } catch (cause) {
    call.deps.log.fault(call.requestId, `the batch ${id} goes on at the provider and is not paid`, cause);
  }
}
