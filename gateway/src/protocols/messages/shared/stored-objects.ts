/** Finds what a provider keeps of a messages answer: its container, and the files that its tools made there. */
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';
import type { StoredObject } from '../../upstream-protocol.ts';

/** Of a message, or of the delta at its end; null: it names no container. */
export function containerOf(holder: JsonObject | null): StoredObject | null {
  const id = asText(asObject(holder?.container)?.id);
  return id === null ? null : { kind: 'container', id };
}

const RESULT = '_tool_result';

/** The files in the result of a tool that the provider ran. */
export function filesOf(block: JsonObject | null): readonly StoredObject[] {
  if (asText(block?.type)?.endsWith(RESULT) !== true) return [];
  return asArray(asObject(block?.content)?.content).flatMap((part) => {
    const id = asText(asObject(part)?.file_id);
    return id === null ? [] : [{ kind: 'file', id }];
  });
}

/** Of a whole message; undefined: nothing. */
export function storedInMessage(message: JsonObject): readonly StoredObject[] | undefined {
  const container = containerOf(message);
  if (container === null) return undefined;
  return [container, ...asArray(message.content).flatMap((block) => filesOf(asObject(block)))];
}
