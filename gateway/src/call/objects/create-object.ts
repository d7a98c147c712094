/**
 * Creates an object at a provider for a client, from a form or from JSON, and ties it to the workspace: its row is durable
 * before the client knows the id.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { asObject, asText } from '../../protocols/json.ts';
import { findConversationReferences } from '../../protocols/responses/client/conversation-body.ts';
import type { StoredReference } from '../../protocols/stored/stored-references.ts';
import { NEVER_MS, type StoredRow } from '../../store/ports/stored-state.ts';
import { OutlineFull } from '../../wire/json-node.ts';
import type { Identified } from '../call.ts';
import { estimateTokens } from '../money/usage-checks.ts';
import { openPlace } from '../request/identify.ts';
import { readBody, readOutline } from '../request/read-body.ts';
import { findRows } from '../stored/lead-to-stored.ts';
import type { ObjectContent } from '../stored/send-object-request.ts';
import { readForm } from '../upload/read-form.ts';
import { sendForm } from '../upload/sent-form.ts';
import { type ObjectPlace, placeForNew } from './choose-place.ts';
import { exchangeObject, type ObjectAnswer } from './exchange-object.ts';
import { type AskedObject, isListed, OBJECT_ROUTES } from './object-routes.ts';

/** A request whose body has arrived, and where it goes. */
interface ReadyObject {
  readonly place: ObjectPlace;
  readonly content: ObjectContent;
  /** What a call that names the object pays for it. */
  readonly tokens: number;
}

/** Resolves once the object has its row. Throws CallFailure. */
export async function createObject(call: Identified, asked: AskedObject): Promise<ObjectAnswer> {
  const { isForm } = OBJECT_ROUTES[asked.object.collection];
  const { place, content, tokens } = await (isForm ? receiveFile(call, asked) : receiveJson(call, asked));
  const answer = await exchangeObject(call, place, asked.object, { ...content, fresh: true });
  if (answer.failure !== null) return answer;
  const row = rowOf(call, place, asked, answer.body, tokens);
  try {
    await call.deps.storedState.add(row);
  } catch (cause) {
    await takeBack(call, place, asked, row.id);
    throw new CallFailure('store_unavailable', 'it cannot be stored for this workspace at the moment; try again', {
      retryAfterSeconds: 2,
      cause,
    });
  }
  return answer;
}

/**
 * The place is chosen before the upload begins, so that none is received in vain, and after it by the rights that the key
 * has then.
 */
async function receiveFile(call: Identified, { object }: AskedObject): Promise<ReadyObject> {
  placeForNew(call, object.collection);
  const parts = asObject(JSON.parse((await readForm(call)).toString())) ?? {};
  openPlace(call);
  const place = placeForNew(call, object.collection);
  if (asObject(parts.file) === null) {
    throw invalidRequest('file: found no file; expected one part of this name with a filename', 'file');
  }
  const { form } = call;
  if (form === null) throw new Error('a form that was read is gone');
  return { place, content: { form: { upload: sendForm(form, null), acceptsAny: false } }, tokens: 0 };
}

async function receiveJson(call: Identified, { object }: AskedObject): Promise<ReadyObject> {
  const { body, named } = await readItems(call);
  const place = placeForNew(call, object.collection, named, await findRows(call, named));
  return { place, content: { body }, tokens: estimateTokens(body.length) };
}

/** The body of a request, and what its items name. Throws CallFailure. */
export async function readItems(
  call: Identified,
): Promise<{ readonly body: Buffer; readonly named: readonly StoredReference[] }> {
  const body = await readBody(call);
  openPlace(call);
  const outline = await readOutline(body, call.settings.config.limits);
  try {
    return { body, named: findConversationReferences(outline) };
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw invalidRequest(`the body cannot be checked: ${error.message}`);
  }
}

const ID = /^\w[\w.-]{0,255}$/;
/** Objects are names, sizes and times. */
const OBJECT_BYTES_MAX = 16 * 1024;

function rowOf(
  { principal, requestId }: Identified,
  { target, credential }: ObjectPlace,
  { object }: AskedObject,
  body: Buffer,
  tokens: number,
): StoredRow {
  const text = body.toString();
  const { id, expires_at } = asObject(JSON.parse(text)) ?? {};
  const known = asText(id) ?? '';
  if (!ID.test(known) || body.length > OBJECT_BYTES_MAX) {
    throw new CallFailure('upstream_malformed', 'the model provider answered with no object that has an id');
  }
  const { provider, model, credentials } = target.upstream;
  return {
    account: principal.account.id,
    workspace: principal.workspaceId,
    id: known,
    kind: OBJECT_ROUTES[object.collection].kind,
    provider,
    model,
    credential: credentials[credential]?.name ?? 'default',
    tokens,
    request_id: requestId,
    expires_at_ms: expiryOf(expires_at),
    object: isListed(object.collection) ? text : null,
  };
}

/** OpenAI states seconds of Unix time, Anthropic a date. */
function expiryOf(stated: unknown): number {
  const seconds = typeof stated === 'number' ? stated : 0;
  const ms = typeof stated === 'string' ? Date.parse(stated) : Math.round(seconds * 1_000);
  return ms > 0 ? Math.min(ms, NEVER_MS) : NEVER_MS;
}

/** Deletes an object without a row, because no workspace could use or delete it. */
async function takeBack(call: Identified, place: ObjectPlace, { object }: AskedObject, id: string): Promise<void> {
  try {
    await exchangeObject(call, place, { ...object, method: 'DELETE', path: `/${id}`, query: '' });
  } catch (cause) {
    call.deps.log.fault(call.requestId, `${id} has no row, and is left at ${place.target.upstream.provider}`, cause);
  }
}
