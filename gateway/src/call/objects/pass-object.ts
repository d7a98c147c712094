/** Passes a request about an existing object to the provider that keeps it, and keeps its row as the object is. */
import type { StoredReference } from '../../protocols/stored/stored-references.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import { requireSettled } from '../batches/batch-object.ts';
import type { Identified } from '../call.ts';
import { estimateTokens } from '../money/usage-checks.ts';
import { findRows, keyOf } from '../stored/lead-to-stored.ts';
import type { ObjectContent } from '../stored/send-object-request.ts';
import { allowContent, type ObjectPlace, placeOf } from './choose-place.ts';
import { readItems } from './create-object.ts';
import { exchangeObject, type ObjectAnswer } from './exchange-object.ts';
import { type AskedObject, isListed, missingObject, OBJECT_ROUTES } from './object-routes.ts';

/** An object of the workspace. */
interface FoundObject {
  readonly row: StoredRow;
  readonly place: ObjectPlace;
}

/** The object that a request names; `others`: what else it names. Throws CallFailure. */
export async function findObject(
  call: Identified,
  { id, act, object: { collection } }: AskedObject,
  others: readonly StoredReference[] = [],
): Promise<FoundObject> {
  const own: StoredReference = { path: 'id', kind: OBJECT_ROUTES[collection].kind, id };
  const rows = await findRows(call, [own, ...others]);
  const row = rows.get(keyOf(own));
  if (row === undefined) throw missingObject(collection);
  if (collection === 'batches' && (act === 'content' || act === 'delete')) requireSettled(call, row);
  const place = placeOf(call, collection, own, others, rows);
  if (act === 'change') allowContent(call, collection, row);
  return { row, place };
}

/** Throws CallFailure. */
export async function passObject(call: Identified, asked: AskedObject): Promise<ObjectAnswer> {
  const read = asked.act === 'change' ? await readItems(call) : null;
  const { row, place } = await findObject(call, asked, read?.named);
  const content: ObjectContent = read === null ? {} : { body: read.body, fresh: true };
  const answer = await exchangeObject(call, place, asked.object, content);
  if (answer.failure !== null) {
    await forgetGone(call, asked, row, answer);
    return answer;
  }
  const { storedState } = call.deps;
  if (asked.act === 'delete') await update(call, () => storedState.remove(row, row.id));
  if (read !== null) {
    const tokens = estimateTokens(read.body.length);
    await update(call, () => storedState.addTokens(row, row.id, tokens));
  }
  return answer;
}

/** Forgets an object that the provider no longer has; then it is as unknown as any other. Throws CallFailure. */
export async function forgetGone(
  call: Identified,
  { isWhole, object }: AskedObject,
  row: StoredRow,
  { head }: Pick<ObjectAnswer, 'head'>,
): Promise<void> {
  if (head.status !== 404 || !isWhole) return;
  // Files that a tool made are in no list, and may be known to the provider under another path.
  const isCreated = row.object !== null || !isListed(object.collection);
  if (isCreated) await update(call, () => call.deps.storedState.remove(row, row.id));
  throw missingObject(object.collection);
}

/** What the provider did cannot be undone: a row that stays only leads to a 404. */
async function update({ deps, requestId }: Identified, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    deps.log.fault(requestId, 'the row of an object could not be changed', cause);
  }
}
