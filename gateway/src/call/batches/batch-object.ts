/**
 * Reads batch objects as OpenAI and Anthropic write them. The row of a batch has the object as the provider last wrote it
 * before its end, and afterwards as it ended: a client learns of the end, and gets the output, only once it is settled.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { asArray, asObject, asText, parseObject } from '../../protocols/json.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import type { Identified } from '../call.ts';
import type { ObjectPlace } from '../objects/choose-place.ts';
import { exchangeObject, type ObjectAnswer } from '../objects/exchange-object.ts';
import type { AskedObject } from '../objects/object-routes.ts';
import { findPlace } from '../stored/find-place.ts';

export interface BatchState {
  readonly id: string;
  readonly status: string;
  readonly isEnded: boolean;
  /** Files of its output at OpenAI. */
  readonly files: readonly string[];
  /** Where its output is. */
  readonly outputs: readonly ObjectRequest[];
  /** How many of its requests were answered, as the provider counts them. */
  readonly answered: number;
  /** How many of them have ended in any way; 0: it does not count them. */
  readonly over: number;
  /** Why it failed; null: it has not, or does not say. */
  readonly message: string | null;
}

/** `ended` is Anthropic's. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled', 'ended']);
/** It becomes part of a path. */
const ID = /^\w[\w.-]{0,255}$/;
/** Larger objects are not kept for lists: they have long lists of errors. */
const OBJECT_BYTES_MAX = 64 * 1024;

/** Throws CallFailure `upstream_malformed` for what is no batch. */
export function readBatch(body: Buffer | string): BatchState {
  const object = parseObject(body.toString()) ?? {};
  const inline = asText(object.processing_status);
  const status = inline ?? asText(object.status) ?? '';
  const id = asText(object.id) ?? '';
  const files = [object.output_file_id, object.error_file_id].flatMap((file) => asText(file) ?? []);
  if (status === '' || ![id, ...files].every((one) => ID.test(one))) {
    throw new CallFailure('upstream_malformed', 'the model provider answered with no batch');
  }
  const get = { method: 'GET', query: '' } as const;
  const hasResults = inline !== null && typeof object.results_url === 'string';
  const { total: _, processing: __, ...counts } = asObject(object.request_counts) ?? {};
  const [error] = asArray(asObject(object.errors)?.data);
  return {
    id,
    status,
    isEnded: ENDED.has(status),
    files,
    outputs: hasResults
      ? [{ ...get, collection: 'batches', path: `/${id}/results` }]
      : files.map((file) => ({ ...get, collection: 'files', path: `/${file}/content` })),
    answered: countOf(counts.completed) + countOf(counts.succeeded),
    over: Object.values(counts).reduce<number>((sum, count) => sum + countOf(count), 0),
    message: asText(asObject(error)?.message),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** The object for a row; null: too large. */
export function keptObject(body: Buffer | string): string | null {
  const text = body.toString();
  return text.length > OBJECT_BYTES_MAX ? null : text;
}

function isOpen({ deps }: Identified, { request_id }: StoredRow): boolean {
  return deps.detached.isOpen(request_id);
}

/**
 * Of the results of a batch and of its deletion: throws CallFailure `invalid_request` before it is settled, and `not_found` where
 * its format has neither.
 */
export function requireSettled(call: Identified, row: StoredRow): void {
  if (call.protocol.name !== 'messages') {
    throw new CallFailure(
      'not_found',
      'this path has no such method; the output of a batch is a file, GET /v1/files/ID/content',
    );
  }
  if (isOpen(call, row)) throw invalidRequest('the batch has not ended yet; ask for it until it has');
}

/** The object as the client may see it now; asks the provider whether it has ended meanwhile. Throws CallFailure. */
export function showBatch(call: Identified, row: StoredRow, place: ObjectPlace): Promise<string> {
  call.deps.detached.wake(row.request_id);
  return currentObject(call, row, place);
}

/** In the client's own format. Throws CallFailure. */
async function currentObject(call: Identified, row: StoredRow, place: ObjectPlace): Promise<string> {
  if (row.object !== null && (isOpen(call, row) || readBatch(row.object).isEnded)) return shown(call, row.object);
  const about = { method: 'GET', collection: 'batches', path: `/${row.id}`, query: '' } as const;
  const answer = await exchangeObject(call, place, about);
  if (answer.failure !== null) throw answer.failure;
  if (!isOpen(call, row)) await keep(call, row, answer.body);
  return shown(call, settledState(call, row, answer.body.toString()));
}

/** The object, or the row's while an end is not settled. Throws CallFailure where the row has none. */
function settledState(call: Identified, row: StoredRow, text: string): string {
  if (!isOpen(call, row) || !readBatch(text).isEnded) return text;
  if (row.object !== null) return row.object;
  throw new CallFailure('store_unavailable', 'the batch has ended and is being settled; ask again', {
    retryAfterSeconds: 2,
  });
}

/** The row with the same, for a list: of a provider that cannot be asked now, as it was. */
export async function listedBatch(call: Identified, row: StoredRow): Promise<StoredRow> {
  const place = findPlace(call.settings.routes, row, ({ state }) => state.creates.includes('batches'));
  const known = shown(call, row.object ?? '{}');
  const object = place === null ? known : await currentObject(call, row, place).catch(() => known);
  return { ...row, object };
}

/** Asks the provider to end a batch. Throws CallFailure. */
export async function cancelBatch(
  call: Identified,
  { object }: AskedObject,
  row: StoredRow,
  place: ObjectPlace,
): Promise<ObjectAnswer> {
  const answer = await exchangeObject(call, place, object);
  // It may have ended already.
  call.deps.detached.wake(row.request_id);
  if (answer.failure !== null) return answer;
  if (!readBatch(answer.body).isEnded) await keep(call, row, answer.body);
  return { ...answer, body: Buffer.from(shown(call, settledState(call, row, answer.body.toString()))) };
}

/** A row that stays as it was is only out of date. */
async function keep({ deps, requestId }: Identified, row: StoredRow, body: Buffer): Promise<void> {
  try {
    await deps.storedState.add({ ...row, object: keptObject(body) ?? row.object });
  } catch (cause) {
    deps.log.fault(requestId, 'the row of a batch could not be changed', cause);
  }
}

/** Anthropic's objects have an address of their results: here it is the gateway's. */
export function shown({ request, settings }: Pick<Identified, 'request' | 'settings'>, text: string): string {
  const object = parseObject(text);
  if (object === null || typeof object.results_url !== 'string') return text;
  const base = settings.config.server.publicUrl ?? URL.parse(request.url)?.origin ?? '';
  return JSON.stringify({ ...object, results_url: `${base}/v1/messages/batches/${asText(object.id)}/results` });
}
