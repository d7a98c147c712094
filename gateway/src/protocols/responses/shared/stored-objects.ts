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

/** Of a response object without its items; undefined: the provider says that it stores nothing. */
export function storedIn(response: JsonObject, items: readonly StoredObject[]): readonly StoredObject[] | undefined {
  const id = asText(response.id);
  if (id === null || response.store === false) return undefined;
  const conversation = asText(asObject(response.conversation)?.id);
  const named: StoredObject[] = conversation === null ? [] : [{ kind: 'conversation', id: conversation }];
  return [{ kind: 'response', id }, ...named, ...items];
}

/** Of a whole response object. */
export function storedInAnswer(response: JsonObject): readonly StoredObject[] | undefined {
  const items: StoredObject[] = [];
  for (const item of asArray(response.output)) noteStoredItem(asObject(item), items);
  return storedIn(response, items);
}
