/** Finds what a provider keeps of a Responses answer: the response, its items and its containers. */
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';
import type { StoredObject } from '../../upstream-protocol.ts';

/** Adds an item of the answer, and the container that it ran in. */
export function noteStoredItem(item: JsonObject | null, found: StoredObject[]): void {
  const id = asText(item?.id);
  const container = asText(item?.container_id);
  if (id !== null) found.push({ kind: 'item', id });
  if (container !== null) found.push({ kind: 'container', id: container });
}

/** A compaction is not stored, and repeats items of the request, with ids of the client's choice. */
const COMPACTION = 'response.compaction';

/** Of a response object without its items; null: the provider stores nothing of it. */
export function storedIn(response: JsonObject): StoredObject[] | null {
  const id = asText(response.id);
  if (id === null || response.store === false || response.object === COMPACTION) return null;
  const conversation = asText(asObject(response.conversation)?.id);
  return [
    { kind: 'response', id },
    ...(conversation === null ? [] : [{ kind: 'conversation', id: conversation } as const]),
  ];
}

/** Of a whole response object. */
export function storedInAnswer(response: JsonObject): readonly StoredObject[] | undefined {
  const found = storedIn(response);
  if (found === null) return undefined;
  for (const item of asArray(response.output)) noteStoredItem(asObject(item), found);
  return found;
}
