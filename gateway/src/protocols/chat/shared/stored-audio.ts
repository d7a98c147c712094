/** Finds the sound of a chat answer, which its provider keeps: a later message names it in place of the sound. */
import { asObject, asText, type JsonObject } from '../../json.ts';
import type { StoredObject } from '../../upstream-protocol.ts';

/** Of a message or a delta; null: it has none. The last delta of a stream states when it expires, in seconds. */
export function audioOf(message: JsonObject | null): Partial<StoredObject> | null {
  const audio = asObject(message?.audio);
  if (audio === null) return null;
  const id = asText(audio.id);
  const { expires_at } = audio;
  return {
    ...(id !== null && { kind: 'audio', id }),
    ...(typeof expires_at === 'number' && { expiresAtMs: Math.round(expires_at * 1_000) }),
  };
}

/** Whether it is known by an id. */
export function isKept(audio: Partial<StoredObject> | null): audio is StoredObject {
  return audio?.id !== undefined;
}

/** Of the choices of an answer; undefined: none. */
export function audioIn(choices: readonly unknown[]): readonly StoredObject[] | undefined {
  let found: StoredObject[] | undefined;
  for (const choice of choices) {
    const audio = audioOf(asObject(asObject(choice)?.message));
    if (!isKept(audio)) continue;
    found ??= [];
    found.push(audio);
  }
  return found;
}
